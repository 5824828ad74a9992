<?php

declare(strict_types=1);

namespace Paymesh;

/**
 * A client for every operation. Transient failures are retried with back-off; every POST carries an idempotency key, so a retry never acts
 * twice. The API key is a secret of your server and decides the mode.
 */
final class Paymesh
{
    public const VERSION = '1.0.0';
    private const ENDED = ['expired', 'cancelled'];
    private const ENSURE_ROUNDS = 5;
    /** Keys of one attempt that refusals of one minute may have used up. */
    private const KEYS_MAX = 20;
    /** More attempts than an order can have: a list that goes on is not believed. */
    private const ATTEMPTS_MAX = 1000;

    /** Whether the key is a live one. */
    public readonly bool $livemode;
    private Transport $transport;

    /** @param (\Closure(float): void)|null $sleep Waits a number of seconds before a retry. */
    public function __construct(string $apiKey, string $baseUrl, float $timeoutS = 30, int $maxRetries = 4, ?\Closure $sleep = null)
    {
        $sleep ??= static function (float $seconds): void {
            usleep((int) ($seconds * 1e6));
        };
        $this->livemode = preg_match('/^[^_]+_live_/', $apiKey) === 1;
        $this->transport = new Transport($apiKey, $baseUrl, $timeoutS, $maxRetries, $sleep);
    }

    /** @param array<string, mixed> $body `amount` and `currency`; see the reference for the others. */
    public function createInvoice(array $body, ?string $key = null): Invoice
    {
        return Invoice::from($this->post('/invoices', $body, $key));
    }

    public function getInvoice(string $id): Invoice
    {
        return Invoice::from($this->get("/invoices/{$this->id($id)}"));
    }

    /**
     * All pages, newest first.
     *
     * @param array<string, scalar|null> $query `status`, `order_id`, `created_after`, `created_before`, `limit`
     * @return \Generator<int, Invoice>
     */
    public function listInvoices(array $query = []): \Generator
    {
        return $this->list('/invoices', $query, Invoice::from(...));
    }

    /** Cancels an invoice that has received nothing; otherwise `INVALID_STATE`. */
    public function cancelInvoice(string $id, ?string $key = null): Invoice
    {
        return Invoice::from($this->post("/invoices/{$this->id($id)}/cancel", null, $key));
    }

    /** Test keys only: `paid`, `partial`, `overpaid` or `expired`, with the same events as real money. */
    public function simulateInvoice(string $id, string $scenario, ?string $key = null): Invoice
    {
        return Invoice::from($this->post("/test/invoices/{$this->id($id)}/simulate", ['scenario' => $scenario], $key));
    }

    /**
     * The invoice by which the order `$body['order_id']` is to be paid now: the one with money, however old, else the newest that lives, else
     * the next attempt, under the key `order-<order id>-<attempt>`. Calls at the same time get the same invoice; others that wait are cancelled.
     * With another price or coin the old invoice is cancelled first; when money has come for it, it is returned as it is: compare `amount` and
     * `status`.
     *
     * @param array<string, mixed> $body
     */
    public function ensureInvoice(array $body): Invoice
    {
        $orderId = (string) ($body['order_id'] ?? '');
        if ($orderId === '') {
            throw new \InvalidArgumentException('ensureInvoice needs an order_id');
        }
        $usedUp = [];
        $minute = intdiv(time(), 60);
        for ($round = 0; $round < self::ENSURE_ROUNDS + count($usedUp); $round++) {
            $attempts = [];
            foreach ($this->listInvoices(['order_id' => $orderId, 'limit' => 100]) as $attempt) {
                $attempts[] = $attempt;
                if (count($attempts) > self::ATTEMPTS_MAX) {
                    throw new \RuntimeException("order $orderId: it has more than " . self::ATTEMPTS_MAX . ' invoices');
                }
            }
            $living = array_values(array_filter($attempts, fn (Invoice $each): bool => !in_array($each->status, self::ENDED, true)));
            usort($living, fn (Invoice $left, Invoice $right): int => self::progress($right) <=> self::progress($left));
            foreach (array_slice($living, 1) as $other) {
                // An older one was paid late, or two were opened at once: nobody must be asked to pay the order twice.
                if (self::progress($other) === 0) {
                    $this->isCancelled($other->id);
                }
            }
            $one = $living[0] ?? null;
            if ($one !== null) {
                if (self::progress($one) > 0 || self::sameTerms($one, $body) || !$this->isCancelled($one->id)) {
                    $kept = $this->getInvoice($one->id);
                    // It may have ended since the list was read.
                    if (!in_array($kept->status, self::ENDED, true)) {
                        return $kept;
                    }
                }
                continue;
            }
            $key = self::keyFor('order-' . self::orderKey($orderId) . '-' . (count($attempts) + 1), $minute, $usedUp);
            try {
                $made = $this->createInvoice($body, $key);
            } catch (ApiError $error) {
                // Its stored answer is a refusal of before, or another call was faster with other terms, which the list shows.
                if (count($usedUp) >= self::KEYS_MAX || !($error->isReplayed || $error->apiCode === 'IDEMPOTENCY_MISMATCH')) {
                    throw $error;
                }
                $usedUp[] = $key;
                continue;
            }
            // A repeated answer shows the invoice as it was when it was created.
            $current = $this->getInvoice($made->id);
            if (!in_array($current->status, self::ENDED, true)) {
                return $current;
            }
        }
        throw new \RuntimeException("order $orderId: other calls keep opening and ending its invoices");
    }

    /** @param array<string, mixed> $body */
    public function createPaymentLink(array $body, ?string $key = null): PaymentLink
    {
        return PaymentLink::from($this->post('/payment-links', $body, $key));
    }

    public function getPaymentLink(string $id): PaymentLink
    {
        return PaymentLink::from($this->get("/payment-links/{$this->id($id)}"));
    }

    /**
     * @param array<string, scalar|null> $query
     * @return \Generator<int, PaymentLink>
     */
    public function listPaymentLinks(array $query = []): \Generator
    {
        return $this->list('/payment-links', $query, PaymentLink::from(...));
    }

    public function deactivatePaymentLink(string $id, ?string $key = null): PaymentLink
    {
        return PaymentLink::from($this->post("/payment-links/{$this->id($id)}/deactivate", null, $key));
    }

    /** @param array<string, mixed> $body */
    public function createProduct(array $body, ?string $key = null): Product
    {
        return Product::from($this->post('/products', $body, $key));
    }

    public function getProduct(string $id): Product
    {
        return Product::from($this->get("/products/{$this->id($id)}"));
    }

    /**
     * @param array<string, scalar|null> $query
     * @return \Generator<int, Product>
     */
    public function listProducts(array $query = []): \Generator
    {
        return $this->list('/products', $query, Product::from(...));
    }

    /**
     * @param array<string, scalar|null> $query `invoice_id`, `limit`
     * @return \Generator<int, Payment>
     */
    public function listPayments(array $query = []): \Generator
    {
        return $this->list('/payments', $query, Payment::from(...));
    }

    /** @return \Generator<int, Currency> Every supported asset and whether this workspace can receive it now. */
    public function listCurrencies(): \Generator
    {
        return $this->list('/currencies', [], Currency::from(...));
    }

    /**
     * @param array<string, scalar|null> $query `fiat`, `asset`
     * @return \Generator<int, Rate>
     */
    public function listRates(array $query = []): \Generator
    {
        return $this->list('/rates', $query, Rate::from(...));
    }

    /** @param array<string, mixed> $body `amount`, `currency`, `asset`; nothing is locked. */
    public function createEstimate(array $body): Estimate
    {
        return Estimate::from($this->post('/estimate', $body, null));
    }

    /**
     * Only this answer has the `secret`: store it. `warning` tells of another endpoint with the same URL.
     *
     * @param array<string, mixed> $body
     */
    public function createWebhookEndpoint(array $body, ?string $key = null): WebhookEndpointCreated
    {
        return WebhookEndpointCreated::from($this->post('/webhook-endpoints', $body, $key));
    }

    /** @return \Generator<int, WebhookEndpoint> */
    public function listWebhookEndpoints(): \Generator
    {
        return $this->list('/webhook-endpoints', [], WebhookEndpoint::from(...));
    }

    public function deleteWebhookEndpoint(string $id): Deleted
    {
        $gone = ['id' => $id, 'object' => 'webhook_endpoint', 'deleted' => true];
        return Deleted::from($this->transport->call('DELETE', "/webhook-endpoints/{$this->id($id)}", gone: $gone)['data']);
    }

    /** @return array<string, mixed> */
    private function get(string $path): array
    {
        return $this->transport->call('GET', $path)['data'];
    }

    /**
     * @param array<string, mixed>|null $body
     * @return array<string, mixed>
     */
    private function post(string $path, ?array $body, ?string $key): array
    {
        return $this->transport->call('POST', $path, [], $body, $key)['data'];
    }

    /**
     * @template T
     * @param array<string, scalar|null> $query
     * @param \Closure(array<string, mixed>): T $from
     * @return \Generator<int, T>
     */
    private function list(string $path, array $query, \Closure $from): \Generator
    {
        $cursor = $query['cursor'] ?? null;
        $passed = [];
        while (true) {
            $page = $this->transport->call('GET', $path, ['cursor' => $cursor] + $query, isList: true);
            foreach ($page['data'] as $item) {
                yield $from($item);
            }
            $cursor = $page['meta']['next_cursor'];
            if ($cursor === null || !$page['meta']['has_more']) {
                return;
            }
            // A cursor that comes again would repeat the same items forever, and an empty page may never end.
            if (isset($passed["c$cursor"]) || $page['data'] === []) {
                throw new \RuntimeException("GET $path: the list does not advance");
            }
            $passed["c$cursor"] = true;
        }
    }

    private function id(string $id): string
    {
        if (preg_match('/^[0-9A-Za-z-]+$/D', $id) !== 1) {
            throw new \InvalidArgumentException('id must be the id of a resource');
        }
        return $id;
    }

    private function isCancelled(string $id): bool
    {
        try {
            $this->cancelInvoice($id);
            return true;
        } catch (ApiError $error) {
            if ($error->apiCode !== 'INVALID_STATE') {
                throw $error;
            }
            return false;
        }
    }

    /** How far its money is; 3 for one that is paid, or has a status that this version does not have. */
    private static function progress(Invoice $invoice): int
    {
        return ['new' => 0, 'pending' => 0, 'partial' => 1, 'confirming' => 2][$invoice->status] ?? 3;
    }

    /** @param array<string, mixed> $body */
    private static function sameTerms(Invoice $invoice, array $body): bool
    {
        $asset = $body['asset'] ?? '';
        $plain = fn (string $amount): string => str_contains($amount, '.') ? rtrim(rtrim($amount, '0'), '.') : $amount;
        return $invoice->amount->currency === $body['currency']
            && $plain($invoice->amount->value) === $plain((string) $body['amount'])
            && ($asset === '' || $invoice->crypto?->asset === $asset);
    }

    /**
     * The key of an attempt, or one of this minute (`.29402222`, `.29402222.2`) while refusals have used it up: the API repeats a refusal for a
     * day, and the shop may have removed its cause since.
     *
     * @param list<string> $usedUp
     */
    private static function keyFor(string $attempt, int $minute, array $usedUp): string
    {
        $key = $attempt;
        for ($count = 1; in_array($key, $usedUp, true); $count++) {
            $key = $count === 1 ? "$attempt.$minute" : "$attempt.$minute.$count";
        }
        return $key;
    }

    private static function orderKey(string $orderId): string
    {
        $text = rawurlencode($orderId);
        return strlen($text) <= 200 ? $text : hash('sha256', $text);
    }
}
