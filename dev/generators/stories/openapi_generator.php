<?php
// Calls each operation once with the client that openapi-generator makes for PHP, and reads an event.
declare(strict_types=1);

use Paymesh\Api\CurrenciesAndRatesApi;
use Paymesh\Api\InvoicesApi;
use Paymesh\Api\PaymentLinksApi;
use Paymesh\Api\PaymentsApi;
use Paymesh\Api\ProductsApi;
use Paymesh\Api\WebhookEndpointsApi;
use Paymesh\ApiException;
use Paymesh\Configuration;
use Paymesh\Model;
use Paymesh\ObjectSerializer;

require 'GuzzleHttp/autoload.php';
spl_autoload_register(function (string $class): void {
    $file = getenv('CLIENT') . '/lib/' . str_replace(['Paymesh\\', '\\'], ['', '/'], $class) . '.php';
    if (is_file($file)) require $file;
});

function check(bool $holds, string $what): void
{
    if (!$holds) throw new RuntimeException($what);
}
$key = fn(): string => bin2hex(random_bytes(16));
$has = fn(array $rows, string $id): bool => in_array($id, array_map(fn($row) => $row->getId(), $rows), true);

$configuration = (new Configuration())->setHost(getenv('BASE_URL'))->setAccessToken(getenv('API_KEY'));
$http = new GuzzleHttp\Client();
[$rates, $products] = [new CurrenciesAndRatesApi($http, $configuration), new ProductsApi($http, $configuration)];
[$links, $invoices] = [new PaymentLinksApi($http, $configuration), new InvoicesApi($http, $configuration)];
[$payments, $endpoints] = [new PaymentsApi($http, $configuration), new WebhookEndpointsApi($http, $configuration)];

check(count($rates->listCurrencies()->getData()) > 0, 'no currency');
check(count($rates->listRates('USD')->getData()) > 0, 'no rate');
$estimate = new Model\EstimateRequest(['amount' => '10.00', 'currency' => 'USD', 'asset' => 'eth_ethereum']);
check((float) $rates->createEstimate($estimate, $key())->getData()->getAmount() > 0, 'no amount');

$ticket = new Model\ProductCreate(['name' => 'Ticket', 'price' => '24.95', 'currency' => 'USD']);
$product = $products->createProduct($ticket, $key())->getData();
check($products->getProduct($product->getId())->getData()->getName() === 'Ticket', 'another name');
check($has($products->listProducts(5)->getData(), $product->getId()), 'product not listed');

$link = $links->createPaymentLink(new Model\PaymentLinkCreate(['product_id' => $product->getId()]), $key())->getData();
check($links->getPaymentLink($link->getId())->getData()->getStatus() === 'active', 'link not active');
check($has($links->listPaymentLinks(5)->getData(), $link->getId()), 'link not listed');
check($links->deactivatePaymentLink($link->getId(), $key())->getData()->getStatus() === 'inactive', 'link still active');

$order = new Model\InvoiceCreate([
    'amount' => '24.95', 'currency' => 'USD', 'asset' => 'eth_ethereum', 'order_id' => 'order-7731', 'metadata' => ['channel' => 'web'],
]);
$invoice = $invoices->createInvoice($order, $key())->getData();
check(str_starts_with($invoice->getCrypto()->getAddress(), '0x'), 'no address');
$paid = $invoices->simulateInvoice($invoice->getId(), new Model\SimulateRequest(['scenario' => 'paid']), $key())->getData();
check($paid->getStatus() === 'paid', 'not paid');
check($invoices->getInvoice($invoice->getId())->getData()->getMetadata() === ['channel' => 'web'], 'no metadata');
check($has($invoices->listInvoices(5, null, null, 'order-7731')->getData(), $invoice->getId()), 'invoice not listed');
check(count($payments->listPayments(5, null, $invoice->getId())->getData()) > 0, 'no payment');
$other = $invoices->createInvoice(new Model\InvoiceCreate(['amount' => '1.00', 'currency' => 'EUR']), $key())->getData();
check($invoices->cancelInvoice($other->getId(), $key())->getData()->getStatus() === 'cancelled', 'not cancelled');

$address = new Model\WebhookEndpointCreate(['url' => 'http://localhost:9/hooks', 'events' => ['invoice.paid']]);
$endpoint = $endpoints->createWebhookEndpoint($address, $key())->getData();
check(str_starts_with($endpoint->getSecret(), 'whsec_'), 'no secret');
check($has($endpoints->listWebhookEndpoints()->getData(), $endpoint->getId()), 'endpoint not listed');
check($endpoints->deleteWebhookEndpoint($endpoint->getId())->getData()->getDeleted(), 'not deleted');

try {
    $invoices->getInvoice('01920a4d-77c2-7e18-a6f4-1d3b5c7e9f0a');
    check(false, 'an unknown invoice was found');
} catch (ApiException $refused) {
    check($refused->getCode() === 404 && $refused->getResponseObject()->getError()->getCode() === getenv('ERROR_CODE'), 'another error');
}

foreach (explode(':', getenv('EVENT_FILES')) as $name) {
    $event = ObjectSerializer::deserialize(json_decode(file_get_contents($name)), Model\Event::class, []);
    check($event->valid() && $event->getType() !== '' && $event->getData()->getObject()->getStatus() !== '', "$name not read");
}
echo "19 operations, an error and 16 events of a later server\n";
