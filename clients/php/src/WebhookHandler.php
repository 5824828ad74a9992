<?php

declare(strict_types=1);

namespace Paymesh;

/**
 * Takes deliveries: verifies each, reads the invoice as it is now (events come twice and out of order), and calls `paid`, `partly`, `ended`
 * or, if given, `waiting` with it. They may run more than once for one invoice: let them use `Fulfilment::decide` and store its result at
 * once. What they throw goes through: answer 500, and the delivery comes again.
 */
final class WebhookHandler
{
    /** @var array<string, \Closure(Invoice): void> */
    private array $callbacks;

    /**
     * @param string|list<string> $secrets
     * @param \Closure(Invoice): void $paid
     * @param \Closure(Invoice): void $partly
     * @param \Closure(Invoice): void $ended
     * @param (\Closure(Invoice): void)|null $waiting
     */
    public function __construct(
        private Paymesh $client,
        private string|array $secrets,
        \Closure $paid,
        \Closure $partly,
        \Closure $ended,
        ?\Closure $waiting = null,
    ) {
        $waiting ??= static function (Invoice $invoice): void {
        };
        $this->callbacks = ['paid' => $paid, 'overpaid' => $paid, 'partial' => $partly, 'confirming' => $partly]
            + ['expired' => $ended, 'cancelled' => $ended, 'new' => $waiting, 'pending' => $waiting];
    }

    /** @return array{int, string} Status and text of the answer. */
    public function handle(string $rawBody, ?string $signature): array
    {
        try {
            $event = Webhook::verify($rawBody, $signature, $this->secrets);
        } catch (WebhookRefused $refused) {
            return [400, $refused->reason];
        }
        if ($event['type'] !== 'webhook.test' && ($event['data']['object']['object'] ?? null) === 'invoice') {
            $invoice = $this->client->getInvoice($event['data']['object']['id']);
            if (isset($this->callbacks[$invoice->status])) {
                ($this->callbacks[$invoice->status])($invoice);
            }
        }
        return [204, ''];
    }

    /** Answers a PSR-7 request with a PSR-17 response; Laravel gives and takes both through its PSR-7 bridge. */
    public function psr7(
        \Psr\Http\Message\ServerRequestInterface $request,
        \Psr\Http\Message\ResponseFactoryInterface $responses,
    ): \Psr\Http\Message\ResponseInterface {
        $signature = $request->getHeaderLine('X-Webhook-Signature');
        [$status, $text] = $this->handle((string) $request->getBody(), $signature);
        $response = $responses->createResponse($status);
        $response->getBody()->write($text);
        return $response;
    }
}
