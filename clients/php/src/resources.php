<?php

// Generated from docs/openapi.json by `npm run gen:client`. Do not edit.

declare(strict_types=1);

namespace Paymesh;

/** The body of a webhook delivery. */
final class Event
{
    public function __construct(
        /** The same for every delivery of this event: use it to deduplicate. */
        public readonly string $id,
        public readonly string $object,
        /** What happened. */
        public readonly string $type,
        /** API version of the event. */
        public readonly string $api_version,
        /** False for test events. */
        public readonly bool $livemode,
        /** When it happened. */
        public readonly string $created_at,
        /** Data of the event. */
        public readonly EventData $data,
    ) {
    }

    /** @param array<string, mixed> $data A decoded answer; unknown fields are left out. */
    public static function from(array $data): self
    {
        return new self(
            $data['id'],
            $data['object'],
            $data['type'],
            $data['api_version'],
            $data['livemode'],
            $data['created_at'],
            EventData::from($data['data']),
        );
    }
}

/** Data of the event. */
final class EventData
{
    public function __construct(
        /** The invoice at the time of the event. */
        public readonly Invoice $object,
        /** The payment; on `payment.*` events only. */
        public readonly ?Payment $payment,
    ) {
    }

    /** @param array<string, mixed> $data A decoded answer; unknown fields are left out. */
    public static function from(array $data): self
    {
        return new self(
            Invoice::from($data['object']),
            isset($data['payment']) ? Payment::from($data['payment']) : null,
        );
    }
}

/** A fiat amount. */
final class Money
{
    public function __construct(
        /** Decimal amount, with exactly the decimals of the currency (none for CLP, two for the others). */
        public readonly string $value,
        /** ISO 4217 code. */
        public readonly string $currency,
        /** The same amount in minor units: cents for USD. */
        public readonly int $minor,
    ) {
    }

    /** @param array<string, mixed> $data A decoded answer; unknown fields are left out. */
    public static function from(array $data): self
    {
        return new self(
            $data['value'],
            $data['currency'],
            $data['minor'],
        );
    }
}

/** What to pay on-chain. */
final class InvoiceCrypto
{
    public function __construct(
        /** Asset id: `<symbol>_<network>`. */
        public readonly string $asset,
        /** Network of the asset. */
        public readonly string $network,
        /** Ticker of the asset, in capitals. */
        public readonly string $symbol,
        /** Exact amount to pay, in units of the asset: the whole price, or what was paid so far plus the rest at the current rate. After a part payment ask for the amount in `uri`: the rest, rounded up to what a payer can type and the chain carries. */
        public readonly string $amount,
        /** The same amount in base units: satoshi, wei, lamports. */
        public readonly string $amount_base_units,
        /** Decimals between base units and `amount`: 8 for BTC. */
        public readonly int $decimals,
        /** Address to pay to. It belongs to this invoice. */
        public readonly string $address,
        /** For wallets and QR codes: a payment link for what is left to pay now. On TRON, where wallets agree on no link, the plain address. Empty while nothing is asked for: confirming, paid, overpaid, expired, cancelled, or only a new price on the checkout can name an amount. */
        public readonly string $uri,
        /** Confirmations that a payment needs; fixed when the asset was locked. */
        public readonly int $required_confirmations,
    ) {
    }

    /** @param array<string, mixed> $data A decoded answer; unknown fields are left out. */
    public static function from(array $data): self
    {
        return new self(
            $data['asset'],
            $data['network'],
            $data['symbol'],
            $data['amount'],
            $data['amount_base_units'],
            $data['decimals'],
            $data['address'],
            $data['uri'],
            $data['required_confirmations'],
        );
    }
}

/** The rate used to compute the crypto amount. */
final class InvoiceRate
{
    public function __construct(
        /** Price of one unit of the asset in the invoice currency, in full precision. */
        public readonly string $fiat_per_asset,
        /** When the rate was fixed. */
        public readonly string $locked_at,
        /** When the locked rate and exact amount expire. After that the payer gets a new price for what is left. */
        public readonly string $expires_at,
    ) {
    }

    /** @param array<string, mixed> $data A decoded answer; unknown fields are left out. */
    public static function from(array $data): self
    {
        return new self(
            $data['fiat_per_asset'],
            $data['locked_at'],
            $data['expires_at'],
        );
    }
}

/** Amounts received so far. */
final class InvoiceReceived
{
    public function __construct(
        /** Sum of counted payments, confirmed or not, in units of the locked asset. */
        public readonly string $amount,
        /** The same sum in base units. */
        public readonly string $amount_base_units,
        /** The confirmed part of it in base units. */
        public readonly string $confirmed_base_units,
    ) {
    }

    /** @param array<string, mixed> $data A decoded answer; unknown fields are left out. */
    public static function from(array $data): self
    {
        return new self(
            $data['amount'],
            $data['amount_base_units'],
            $data['confirmed_base_units'],
        );
    }
}

/** Circumstances in addition to the status. */
final class InvoiceFlags
{
    public function __construct(
        /** A payment arrived after the invoice expired. */
        public readonly bool $paid_late,
        /** Less than the full amount counts as paid: the merchant accepted it, or nobody can send so small a rest. */
        public readonly bool $underpaid_accepted,
    ) {
    }

    /** @param array<string, mixed> $data A decoded answer; unknown fields are left out. */
    public static function from(array $data): self
    {
        return new self(
            $data['paid_late'],
            $data['underpaid_accepted'],
        );
    }
}

/** The payer, if given. */
final class InvoiceCustomer
{
    public function __construct(
        /** Email address given at creation. */
        public readonly ?string $email,
        /** Name given at creation. */
        public readonly ?string $name,
    ) {
    }

    /** @param array<string, mixed> $data A decoded answer; unknown fields are left out. */
    public static function from(array $data): self
    {
        return new self(
            $data['email'] ?? null,
            $data['name'] ?? null,
        );
    }
}

/** Pages around the invoice. */
final class InvoiceUrls
{
    public function __construct(
        /** Hosted checkout page: send the payer there. */
        public readonly string $checkout,
        /** Receipt page. */
        public readonly string $receipt,
        /** Where the checkout links to after payment. */
        public readonly ?string $success,
        /** Where the checkout links to when the payer cancels. */
        public readonly ?string $cancel,
    ) {
    }

    /** @param array<string, mixed> $data A decoded answer; unknown fields are left out. */
    public static function from(array $data): self
    {
        return new self(
            $data['checkout'],
            $data['receipt'],
            $data['success'] ?? null,
            $data['cancel'] ?? null,
        );
    }
}

/** A fiat price, paid on-chain in a crypto asset. */
final class Invoice
{
    public function __construct(
        /** Unique. */
        public readonly string $id,
        public readonly string $object,
        /** Counts up per workspace and mode; gaps are possible. */
        public readonly int $number,
        /** State of the invoice. */
        public readonly string $status,
        /** False for test invoices. */
        public readonly bool $livemode,
        /** Text for the payer. */
        public readonly ?string $description,
        /** The merchant's own reference. */
        public readonly ?string $order_id,
        /** @var array<string, string> */
        public readonly array $metadata,
        /** Price in fiat. */
        public readonly Money $amount,
        /** What to pay on-chain; null until an asset is locked. */
        public readonly ?InvoiceCrypto $crypto,
        /** Locked rate; null until an asset is locked. */
        public readonly ?InvoiceRate $rate,
        public readonly InvoiceReceived $received,
        public readonly InvoiceFlags $flags,
        public readonly InvoiceCustomer $customer,
        public readonly InvoiceUrls $urls,
        /** The payment link that created it. */
        public readonly ?string $payment_link_id,
        /** The product of that payment link. */
        public readonly ?string $product_id,
        /** Source: `api` for invoices created with a key. */
        public readonly string $source,
        /** When it was created. */
        public readonly string $created_at,
        /** The invoice expires if the full amount has not arrived by then. */
        public readonly string $expires_at,
        /** When the full amount was confirmed. */
        public readonly ?string $paid_at,
        /** When it last changed. */
        public readonly string $updated_at,
    ) {
    }

    /** @param array<string, mixed> $data A decoded answer; unknown fields are left out. */
    public static function from(array $data): self
    {
        return new self(
            $data['id'],
            $data['object'],
            $data['number'],
            $data['status'],
            $data['livemode'],
            $data['description'] ?? null,
            $data['order_id'] ?? null,
            $data['metadata'],
            Money::from($data['amount']),
            isset($data['crypto']) ? InvoiceCrypto::from($data['crypto']) : null,
            isset($data['rate']) ? InvoiceRate::from($data['rate']) : null,
            InvoiceReceived::from($data['received']),
            InvoiceFlags::from($data['flags']),
            InvoiceCustomer::from($data['customer']),
            InvoiceUrls::from($data['urls']),
            $data['payment_link_id'] ?? null,
            $data['product_id'] ?? null,
            $data['source'],
            $data['created_at'],
            $data['expires_at'],
            $data['paid_at'] ?? null,
            $data['updated_at'],
        );
    }
}

/** An on-chain transfer attributed to an invoice. */
final class Payment
{
    public function __construct(
        /** Unique. */
        public readonly string $id,
        public readonly string $object,
        /** False for payments of test invoices. */
        public readonly bool $livemode,
        /** The invoice it was attributed to. */
        public readonly string $invoice_id,
        /** Asset id: `<symbol>_<network>`. */
        public readonly string $asset,
        /** Network of the asset. */
        public readonly string $network,
        /** Ticker of the asset, in capitals. */
        public readonly string $symbol,
        /** Amount in units of the asset. */
        public readonly string $amount,
        /** Amount in base units. */
        public readonly string $amount_base_units,
        /** Decimals between base units and `amount`: 8 for BTC. */
        public readonly int $decimals,
        /** `detected` and `confirmed` payments exist on the chain; `replaced`, `dropped` and `orphaned` ones no longer do. */
        public readonly string $status,
        /** Transaction; null for simulated payments, and for coins from a contract call that only the balance of the address shows. */
        public readonly ?string $tx_hash,
        /** Output, log or instruction inside the transaction. */
        public readonly ?int $output_index,
        /** Sender, if the chain has one. */
        public readonly ?string $from_address,
        /** The invoice address that received it. */
        public readonly string $to_address,
        /** Block or slot; null until it is in one. */
        public readonly ?int $block_number,
        /** Hash of that block. */
        public readonly ?string $block_hash,
        /** Confirmations so far, including its own block. */
        public readonly int $confirmations,
        /** Confirmations required. */
        public readonly int $required_confirmations,
        /** Whether it counts towards the invoice. */
        public readonly bool $counted,
        /** Why it does not count: `wrong_asset`, `out_of_quote`, `dust` (too small to change anything) and others. */
        public readonly ?string $uncounted_reason,
        /** It arrived after the invoice expired. */
        public readonly bool $late,
        /** It was created with the simulate operation. */
        public readonly bool $simulated,
        /** The transaction in a public block explorer. */
        public readonly ?string $explorer_url,
        /** When it was first seen. */
        public readonly string $detected_at,
        /** When it reached the required confirmations. */
        public readonly ?string $confirmed_at,
        /** When it was first recorded. */
        public readonly string $created_at,
        /** When it last changed. */
        public readonly string $updated_at,
    ) {
    }

    /** @param array<string, mixed> $data A decoded answer; unknown fields are left out. */
    public static function from(array $data): self
    {
        return new self(
            $data['id'],
            $data['object'],
            $data['livemode'],
            $data['invoice_id'],
            $data['asset'],
            $data['network'],
            $data['symbol'],
            $data['amount'],
            $data['amount_base_units'],
            $data['decimals'],
            $data['status'],
            $data['tx_hash'] ?? null,
            $data['output_index'] ?? null,
            $data['from_address'] ?? null,
            $data['to_address'],
            $data['block_number'] ?? null,
            $data['block_hash'] ?? null,
            $data['confirmations'],
            $data['required_confirmations'],
            $data['counted'],
            $data['uncounted_reason'] ?? null,
            $data['late'],
            $data['simulated'],
            $data['explorer_url'] ?? null,
            $data['detected_at'],
            $data['confirmed_at'] ?? null,
            $data['created_at'],
            $data['updated_at'],
        );
    }
}

/** The error. */
final class Error
{
    public function __construct(
        /** Machine-readable error code. */
        public readonly string $code,
        /** Human-readable message. The text may change. */
        public readonly string $message,
        /** @var list<ErrorDetail> Offending fields of a `VALIDATION_ERROR`. */
        public readonly ?array $details,
    ) {
    }

    /** @param array<string, mixed> $data A decoded answer; unknown fields are left out. */
    public static function from(array $data): self
    {
        return new self(
            $data['code'],
            $data['message'],
            $data['details'] ?? null,
        );
    }
}

/** One offending field. */
final class ErrorDetail
{
    public function __construct(
        /** Dotted path of the offending field: `customer.email`, `events.2`. */
        public readonly string $path,
        /** What is wrong. */
        public readonly string $message,
    ) {
    }

    /** @param array<string, mixed> $data A decoded answer; unknown fields are left out. */
    public static function from(array $data): self
    {
        return new self(
            $data['path'],
            $data['message'],
        );
    }
}

/** Position in the list. */
final class ListMeta
{
    public function __construct(
        /** Pass it as `cursor` for the next page; null on the last one. */
        public readonly ?string $next_cursor,
        /** Whether there is a next page. */
        public readonly bool $has_more,
    ) {
    }

    /** @param array<string, mixed> $data A decoded answer; unknown fields are left out. */
    public static function from(array $data): self
    {
        return new self(
            $data['next_cursor'] ?? null,
            $data['has_more'],
        );
    }
}

/** A page that creates an invoice for each payer. */
final class PaymentLink
{
    public function __construct(
        /** Unique. */
        public readonly string $id,
        public readonly string $object,
        /** False for test links. */
        public readonly bool $livemode,
        /** An inactive link accepts no new payments. */
        public readonly string $status,
        /** Shown to payers. */
        public readonly string $title,
        /** Further description, shown to payers. */
        public readonly ?string $description,
        /** ISO 4217 code. */
        public readonly string $currency,
        /** Fixed amount; null when the payer chooses it. */
        public readonly ?string $amount,
        /** Whether the payer chooses the amount. */
        public readonly bool $allow_custom_amount,
        /** Minimum that a payer can choose. */
        public readonly ?string $min_amount,
        /** Maximum that a payer can choose. */
        public readonly ?string $max_amount,
        /** The product whose title, price and currency were copied. */
        public readonly ?string $product_id,
        /** The page for payers. */
        public readonly string $url,
        /** Invoices created from it. */
        public readonly int $uses,
        /** When it stopped accepting new payments. */
        public readonly ?string $deactivated_at,
        /** When it was created. */
        public readonly string $created_at,
        /** When it last changed. */
        public readonly string $updated_at,
    ) {
    }

    /** @param array<string, mixed> $data A decoded answer; unknown fields are left out. */
    public static function from(array $data): self
    {
        return new self(
            $data['id'],
            $data['object'],
            $data['livemode'],
            $data['status'],
            $data['title'],
            $data['description'] ?? null,
            $data['currency'],
            $data['amount'] ?? null,
            $data['allow_custom_amount'],
            $data['min_amount'] ?? null,
            $data['max_amount'] ?? null,
            $data['product_id'] ?? null,
            $data['url'],
            $data['uses'],
            $data['deactivated_at'] ?? null,
            $data['created_at'],
            $data['updated_at'],
        );
    }
}

/** Something that payment links sell. */
final class Product
{
    public function __construct(
        /** Unique. */
        public readonly string $id,
        public readonly string $object,
        /** False for test products. */
        public readonly bool $livemode,
        /** Shown to payers. */
        public readonly string $name,
        /** Further description. */
        public readonly ?string $description,
        /** Price, with exactly the decimals of the currency. */
        public readonly string $price,
        /** ISO 4217 code. */
        public readonly string $currency,
        /** Your own code; unique in the workspace and mode. */
        public readonly ?string $sku,
        /** You cannot create payment links for an inactive product. */
        public readonly bool $active,
        /** When it was created. */
        public readonly string $created_at,
        /** When it last changed. */
        public readonly string $updated_at,
    ) {
    }

    /** @param array<string, mixed> $data A decoded answer; unknown fields are left out. */
    public static function from(array $data): self
    {
        return new self(
            $data['id'],
            $data['object'],
            $data['livemode'],
            $data['name'],
            $data['description'] ?? null,
            $data['price'],
            $data['currency'],
            $data['sku'] ?? null,
            $data['active'],
            $data['created_at'],
            $data['updated_at'],
        );
    }
}

/** A supported crypto asset. */
final class Currency
{
    public function __construct(
        /** Asset id: `<symbol>_<network>`. */
        public readonly string $id,
        public readonly string $object,
        /** The mode of the key: availability may differ between the two. */
        public readonly bool $livemode,
        /** Ticker of the asset, in capitals. */
        public readonly string $symbol,
        /** Network of the asset. */
        public readonly string $network,
        /** Display name. */
        public readonly string $name,
        /** Decimals between base units and `amount`: 8 for BTC. */
        public readonly int $decimals,
        /** Token contract or mint; null for the coin of the network. */
        public readonly ?string $contract_address,
        /** Minimum amount of an invoice, in units of the asset. */
        public readonly string $min_amount,
        /** Confirmations required for an ordinary invoice; `crypto.required_confirmations` of an invoice is the number required for its value. */
        public readonly int $confirmations,
        /** Whether this workspace can receive it now. */
        public readonly bool $available,
        /** Reason; null exactly when `available` is true. */
        public readonly ?string $unavailable_reason,
        /** A node is behind the network, so that real transfers are seen. */
        public readonly bool $watched,
        /** When the workspace was created. */
        public readonly string $created_at,
        /** When availability was checked: now. */
        public readonly string $updated_at,
    ) {
    }

    /** @param array<string, mixed> $data A decoded answer; unknown fields are left out. */
    public static function from(array $data): self
    {
        return new self(
            $data['id'],
            $data['object'],
            $data['livemode'],
            $data['symbol'],
            $data['network'],
            $data['name'],
            $data['decimals'],
            $data['contract_address'] ?? null,
            $data['min_amount'],
            $data['confirmations'],
            $data['available'],
            $data['unavailable_reason'] ?? null,
            $data['watched'],
            $data['created_at'],
            $data['updated_at'],
        );
    }
}

/** Current price of one unit of an asset, including the workspace's spread. */
final class Rate
{
    public function __construct(
        public readonly string $object,
        /** The mode of the key. */
        public readonly bool $livemode,
        /** Asset id: `<symbol>_<network>`. */
        public readonly string $asset,
        /** Ticker of the asset, in capitals. */
        public readonly string $symbol,
        /** Network of the asset. */
        public readonly string $network,
        /** Currency of the price. */
        public readonly string $fiat,
        /** Price of one unit of the asset, in full precision. */
        public readonly string $fiat_per_asset,
        /** Number of independent sources of the price. */
        public readonly int $sources,
        /** Time of the oldest price in it: a rate never changes, the next one takes its place. */
        public readonly string $created_at,
        /** Time of the oldest price in it. */
        public readonly string $updated_at,
        /** The rate is not used after this time. */
        public readonly string $expires_at,
    ) {
    }

    /** @param array<string, mixed> $data A decoded answer; unknown fields are left out. */
    public static function from(array $data): self
    {
        return new self(
            $data['object'],
            $data['livemode'],
            $data['asset'],
            $data['symbol'],
            $data['network'],
            $data['fiat'],
            $data['fiat_per_asset'],
            $data['sources'],
            $data['created_at'],
            $data['updated_at'],
            $data['expires_at'],
        );
    }
}

/** The amount that a lock at this moment would require. */
final class Estimate
{
    public function __construct(
        public readonly string $object,
        /** The mode of the key. */
        public readonly bool $livemode,
        /** Asset id: `<symbol>_<network>`. */
        public readonly string $asset,
        /** Network of the asset. */
        public readonly string $network,
        /** Ticker of the asset, in capitals. */
        public readonly string $symbol,
        /** The price to convert. */
        public readonly Money $fiat,
        /** The price in units of the asset, rounded up like an invoice. */
        public readonly string $amount,
        /** The same amount in base units. */
        public readonly string $amount_base_units,
        /** Decimals between base units and `amount`: 8 for BTC. */
        public readonly int $decimals,
        /** Price of one unit of the asset, in full precision. */
        public readonly string $fiat_per_asset,
        /** Invoices below this amount, in units of the asset, are refused; estimates are not. */
        public readonly string $min_amount,
        /** Time of the oldest price in the rate. */
        public readonly string $rate_updated_at,
        /** When it was created. */
        public readonly string $created_at,
        /** The same: an estimate never changes. */
        public readonly string $updated_at,
    ) {
    }

    /** @param array<string, mixed> $data A decoded answer; unknown fields are left out. */
    public static function from(array $data): self
    {
        return new self(
            $data['object'],
            $data['livemode'],
            $data['asset'],
            $data['network'],
            $data['symbol'],
            Money::from($data['fiat']),
            $data['amount'],
            $data['amount_base_units'],
            $data['decimals'],
            $data['fiat_per_asset'],
            $data['min_amount'],
            $data['rate_updated_at'],
            $data['created_at'],
            $data['updated_at'],
        );
    }
}

/** Your URL that receives signed events. */
final class WebhookEndpoint
{
    public function __construct(
        /** Unique. */
        public readonly string $id,
        public readonly string $object,
        /** False when it only receives test events. */
        public readonly bool $livemode,
        /** Where events are sent. */
        public readonly string $url,
        /** @var list<string> Event types it receives, or `*` for all. */
        public readonly array $events,
        /** Which events it receives. */
        public readonly string $mode,
        /** Your own note. */
        public readonly ?string $description,
        /** A disabled endpoint receives nothing. */
        public readonly string $status,
        /** When it was created. */
        public readonly string $created_at,
        /** When it last changed. */
        public readonly string $updated_at,
    ) {
    }

    /** @param array<string, mixed> $data A decoded answer; unknown fields are left out. */
    public static function from(array $data): self
    {
        return new self(
            $data['id'],
            $data['object'],
            $data['livemode'],
            $data['url'],
            $data['events'],
            $data['mode'],
            $data['description'] ?? null,
            $data['status'],
            $data['created_at'],
            $data['updated_at'],
        );
    }
}

/** A new webhook endpoint with its signing secret. */
final class WebhookEndpointCreated
{
    public function __construct(
        /** Unique. */
        public readonly string $id,
        public readonly string $object,
        /** False when it only receives test events. */
        public readonly bool $livemode,
        /** Where events are sent. */
        public readonly string $url,
        /** @var list<string> Event types it receives, or `*` for all. */
        public readonly array $events,
        /** Which events it receives. */
        public readonly string $mode,
        /** Your own note. */
        public readonly ?string $description,
        /** A disabled endpoint receives nothing. */
        public readonly string $status,
        /** When it was created. */
        public readonly string $created_at,
        /** When it last changed. */
        public readonly string $updated_at,
        /** Signing secret. It is shown only once. */
        public readonly string $secret,
        /** What is probably a mistake, such as another endpoint with the same URL, which then gets every event twice; null otherwise. */
        public readonly ?string $warning,
    ) {
    }

    /** @param array<string, mixed> $data A decoded answer; unknown fields are left out. */
    public static function from(array $data): self
    {
        return new self(
            $data['id'],
            $data['object'],
            $data['livemode'],
            $data['url'],
            $data['events'],
            $data['mode'],
            $data['description'] ?? null,
            $data['status'],
            $data['created_at'],
            $data['updated_at'],
            $data['secret'],
            $data['warning'] ?? null,
        );
    }
}

/** The deleted endpoint. */
final class Deleted
{
    public function __construct(
        /** ID of the deleted endpoint. */
        public readonly string $id,
        /** The deleted endpoint. */
        public readonly string $object,
        public readonly bool $deleted,
    ) {
    }

    /** @param array<string, mixed> $data A decoded answer; unknown fields are left out. */
    public static function from(array $data): self
    {
        return new self(
            $data['id'],
            $data['object'],
            $data['deleted'],
        );
    }
}
