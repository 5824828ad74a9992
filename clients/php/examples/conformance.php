<?php

// Plays conformance scenes: one JSON command a line from standard input, its result on a line of standard output (clients/README.md).

declare(strict_types=1);

use Paymesh\{ApiError, ConnectionFailed, Invoice, Paymesh, Webhook, WebhookHandler, WebhookRefused};

foreach (['ApiError', 'ConnectionFailed', 'WebhookRefused', 'resources', 'FulfilmentTable', 'Fulfilment', 'Transport', 'Paymesh', 'Webhook', 'WebhookHandler'] as $file) {
    require_once __DIR__ . "/../src/$file.php";
}
// A warning is a mistake of the client, too.
set_error_handler(static function (int $level, string $message): bool {
    return error_reporting() === 0 || ($level & error_reporting()) === 0 ? false : throw new ErrorException($message);
});

function handle(Paymesh $client, array $command): array
{
    $called = [];
    $note = function (string $name) use (&$called, $command): ?Closure {
        return $name === ($command['without'] ?? null) ? null : function (Invoice $invoice) use (&$called, $name, $command): void {
            if (isset($command['fails'])) {
                throw new RuntimeException('the database is down');
            }
            $called[] = "$name {$invoice->status}";
        };
    };
    $callbacks = [$note('paid'), $note('partly'), $note('ended'), $note('waiting')];
    $handler = usedWell(fn () => new WebhookHandler($client, $command['secrets'], ...$callbacks));
    [$status, $text] = $handler->handle(base64_decode($command['body']), $command['signature'] ?? null);
    return ['status' => $status, 'text' => $text, 'called' => $called];
}

function verified(array $command): array
{
    $body = base64_decode($command['body']);
    $event = usedWell(fn () => Webhook::verify($body, $command['signature'] ?? null, $command['secrets'], now: $command['now']));
    return ['id' => $event['id'], 'type' => $event['type']];
}

/** What the client refuses before it does anything. */
final class Misuse extends Exception
{
}

function usedWell(Closure $call): mixed
{
    try {
        return $call();
    } catch (TypeError | InvalidArgumentException $error) {
        throw new Misuse($error->getMessage());
    }
}

function describe(Throwable $error): array
{
    return match (true) {
        $error instanceof ApiError => [
            'kind' => 'api', 'code' => $error->apiCode, 'status' => $error->status, 'details' => $error->details,
            'request_id' => $error->requestId, 'retryable' => $error->isRetryable(),
        ],
        $error instanceof ConnectionFailed => [
            'kind' => 'connection', 'status' => $error->status, 'retryable' => $error->isRetryable(), 'key' => $error->idempotencyKey,
        ],
        $error instanceof WebhookRefused => ['kind' => 'refused', 'reason' => $error->reason],
        $error instanceof Misuse => ['kind' => 'misuse', 'message' => $error->getMessage()],
        default => ['kind' => 'other', 'message' => (string) $error],
    };
}

$client = null;
while (($line = fgets(STDIN)) !== false) {
    $command = json_decode($line, true, flags: JSON_THROW_ON_ERROR);
    $waits = [];
    try {
        if ($command['call'] === 'open') {
            $sleep = function (float $seconds) use (&$waits): void {
                $waits[] = $seconds;
            };
            $client = new Paymesh($command['api_key'], $command['api'], $command['timeout_s'] ?? 30, sleep: $sleep);
        }
        $result = ['ok' => match ($command['call']) {
            'open' => null,
            'create' => $client->createInvoice($command['body'], $command['key'] ?? null),
            'get' => $client->getInvoice($command['id']),
            'cancel' => $client->cancelInvoice($command['id']),
            'delete' => $client->deleteWebhookEndpoint($command['id']),
            'ensure' => $client->ensureInvoice($command['body']),
            'list' => iterator_to_array($client->listInvoices($command['query']), false),
            'verify' => verified($command),
            'handle' => handle($client, $command),
        }];
    } catch (Throwable $error) {
        $result = ['error' => describe($error)];
    }
    echo json_encode($result + ['waits' => $waits]), "\n";
}
