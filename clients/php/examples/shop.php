<?php

// A whole shop in one file: an order is paid by crypto (or by card), ships once, and money to return is listed. A real shop keeps the orders
// in its database and locks the order's row where this one locks a file.
//
//   PAYMESH_API=... PAYMESH_KEY=... PAYMESH_SECRET=... SHOP_FILE=/tmp/orders.json php -S 127.0.0.1:8000 shop.php

declare(strict_types=1);

use Paymesh\{ApiError, Fulfilment, Invoice, Paymesh, WebhookHandler};

foreach (['ApiError', 'ConnectionFailed', 'WebhookRefused', 'resources', 'FulfilmentTable', 'Fulfilment', 'Transport', 'Paymesh', 'Webhook', 'WebhookHandler'] as $file) {
    require_once __DIR__ . "/../src/$file.php";
}

$client = new Paymesh((string) getenv('PAYMESH_KEY'), (string) getenv('PAYMESH_API'));

/** Runs work with the orders alone, and stores them afterwards. */
function alone(Closure $work): mixed
{
    $file = fopen((string) getenv('SHOP_FILE'), 'c+');
    flock($file, LOCK_EX);
    $orders = json_decode((string) stream_get_contents($file), true) ?? [];
    $result = $work($orders);
    ftruncate($file, 0);
    rewind($file);
    fwrite($file, json_encode($orders, JSON_THROW_ON_ERROR));
    fclose($file);
    return $result;
}

function cancel(Paymesh $client, string $id): void
{
    try {
        $client->cancelInvoice($id);
    } catch (ApiError $error) {
        // Money has come, or it has ended: its events say what to do.
        if ($error->apiCode !== 'INVALID_STATE') {
            throw $error;
        }
    }
}

/** Decides about an order by its invoice as it is now; may run any number of times. */
function settle(array &$orders, Paymesh $client, Invoice $invoice): void
{
    // An older picture of the invoice than the last one decides nothing.
    if (!isset($orders[$invoice->order_id]) || $invoice->updated_at < ($orders[$invoice->order_id]['seen'][$invoice->id] ?? '')) {
        return;
    }
    $order = &$orders[$invoice->order_id];
    $order['seen'][$invoice->id] = $invoice->updated_at;
    $other = $order['state'] === 'shipped' && $order['shippedBy'] !== $invoice->id;
    $decision = Fulfilment::decide($other ? 'settled' : $order['state'], $invoice);
    if (in_array($decision->action, ['ship', 'reserve_and_ship'], true)) {
        $order['shipments']++;
        $order['shippedBy'] = $invoice->id;
    }
    if ($decision->action === 'cancel_invoice') {
        cancel($client, $invoice->id);
    }
    $current = $invoice->id === $order['invoice'];
    if (!$other && ($decision->action !== 'release' || $current)) {
        $order['state'] = $decision->order;
    }
    unset($order['returns'][$invoice->id]);
    if ($decision->toReturn !== '0') {
        $order['returns'][$invoice->id] = $decision->toReturn;
    }
    if ($decision->order === 'shipped' && !$current) {
        cancel($client, $order['invoice']);
    }
}

/** The page where the order is paid; null when it is not to be paid any more. */
function checkout(array &$orders, Paymesh $client, string $id, array $terms): ?string
{
    $orders[$id] ??= ['state' => 'open', 'invoice' => null, 'shippedBy' => null, 'shipments' => 0, 'returns' => [], 'seen' => []];
    if (!in_array($orders[$id]['state'], ['open', 'released'], true)) {
        return null;
    }
    $invoice = $client->ensureInvoice(['order_id' => $id] + $terms);
    $orders[$id]['invoice'] = $invoice->id;
    $orders[$id]['state'] = 'open';
    settle($orders, $client, $invoice);
    return $orders[$id]['state'] === 'open' ? $invoice->urls->checkout : null;
}

/** Paid by card (settled), or given up (cancelled). */
function endOtherwise(array &$orders, Paymesh $client, string $id, string $state): bool
{
    if (!in_array($orders[$id]['state'], ['open', 'released'], true)) {
        return false;
    }
    $orders[$id]['state'] = $state;
    $orders[$id]['shipments'] += $state === 'settled' ? 1 : 0;
    settle($orders, $client, $client->getInvoice($orders[$id]['invoice']));
    return true;
}

$path = (string) parse_url($_SERVER['REQUEST_URI'], PHP_URL_PATH);
if ($path === '/webhooks') {
    $alike = fn (Invoice $invoice) => alone(fn (array &$orders) => settle($orders, $client, $invoice));
    $handler = new WebhookHandler($client, explode(',', (string) getenv('PAYMESH_SECRET')), $alike, $alike, $alike, $alike);
    $handler->serve();
    return;
}
[, , $id, $action] = explode('/', $path) + ['', '', '', ''];
if ($_SERVER['REQUEST_METHOD'] === 'GET') {
    $order = alone(fn (array &$orders) => $orders[$id]);
    echo json_encode(['returns' => (object) $order['returns']] + $order);
    return;
}
if ($action === 'checkout') {
    $terms = json_decode((string) file_get_contents('php://input'), true);
    $page = alone(fn (array &$orders) => checkout($orders, $client, $id, $terms));
    http_response_code($page === null ? 409 : 303);
    if ($page !== null) {
        header("Location: $page", true, 303);
    }
    return;
}
$done = alone(fn (array &$orders) => endOtherwise($orders, $client, $id, $action === 'card' ? 'settled' : 'cancelled'));
http_response_code($done ? 200 : 409);
