<?php

declare(strict_types=1);

namespace Paymesh;

/**
 * Takes deliveries: verifies each, reads the invoice as it is now (events come twice and out of order), and calls `paid`, `partly`, `ended`
 * or, if given, `waiting` with it. They may run more than once for one invoice: let them use `Fulfilment::decide` and store its result at
 * once. What they throw is logged and answered with 500, and the delivery comes again. Throws `InvalidArgumentException` without a secret.
 */
final class WebhookHandler
{
    /** @var array<string, \Closure(Invoice): void> */
    private array $callbacks;

    /** @var list<string> */
    private array $secrets;

    /**
     * @param string|list<string> $secrets
     * @param \Closure(Invoice): void $paid
     * @param \Closure(Invoice): void $partly
     * @param \Closure(Invoice): void $ended
     * @param (\Closure(Invoice): void)|null $waiting
     */
    public function __construct(
        private Paymesh $client,
        string|array $secrets,
        \Closure $paid,
        \Closure $partly,
        \Closure $ended,
        ?\Closure $waiting = null,
    ) {
        $this->secrets = Webhook::known($secrets);
        $waiting ??= static function (Invoice $invoice): void {
        };
        $this->callbacks = ['paid' => $paid, 'overpaid' => $paid, 'partial' => $partly, 'confirming' => $partly]
            + ['expired' => $ended, 'cancelled' => $ended, 'new' => $waiting, 'pending' => $waiting];
    }

    /**
     * Status and text of the answer. It throws nothing: where errors are displayed, PHP answers 200 to what nobody catches.
     *
     * @return array{int, string}
     */
    public function handle(string $rawBody, ?string $signature): array
    {
        try {
            $event = Webhook::verify($rawBody, $signature, $this->secrets);
            // An endpoint of both modes is told about tests, whose invoices a live key does not see.
            $isOfTest = $event['type'] === 'webhook.test' || ($this->client->livemode && ($event['livemode'] ?? null) === false);
            if (!$isOfTest && ($event['data']['object']['object'] ?? null) === 'invoice') {
                $invoice = $this->client->getInvoice($event['data']['object']['id']);
                if (isset($this->callbacks[$invoice->status])) {
                    ($this->callbacks[$invoice->status])($invoice);
                }
            }
        } catch (WebhookRefused $refused) {
            return [400, $refused->reason];
        } catch (\Throwable $error) {
            error_log("Paymesh: a delivery was not handled and comes again: $error");
            return [500, 'not handled'];
        }
        return [204, ''];
    }

    /** Answers the request of a script of its own (FPM, Apache, `php -S`): 500 even where a callback ends the script. */
    public function serve(): void
    {
        http_response_code(500);
        [$status, $text] = $this->handle((string) file_get_contents('php://input'), $_SERVER['HTTP_X_WEBHOOK_SIGNATURE'] ?? null);
        http_response_code($status);
        echo $text;
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
