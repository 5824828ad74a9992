// Generated from docs/openapi.json by `npm run gen:client`. Do not edit.

export type ClientOptions = {
    baseUrl: `${string}://${string}/api/v1` | (string & {});
};

export type Webhooks = ReceiveEventWebhookRequest;

/**
 * Parameters of an invoice.
 */
export type InvoiceCreate = {
    /**
     * Price. Greater than zero, with at most the decimals of the currency (none for CLP, two for the others); zeros behind them do not count.
     */
    amount: string;
    /**
     * ISO 4217 code.
     */
    currency: 'USD' | 'EUR' | 'DOP' | 'MXN' | 'COP' | 'BRL' | 'GBP' | 'ARS' | 'CLP' | 'PEN';
    /**
     * Text for the payer.
     */
    description?: string | null;
    /**
     * Your own reference. It need not be unique.
     */
    order_id?: string | null;
    /**
     * Locks this asset at creation: the response already carries address and exact amount.
     */
    asset?: 'btc_bitcoin' | 'ltc_litecoin' | 'doge_dogecoin' | 'eth_ethereum' | 'usdt_ethereum' | 'usdc_ethereum' | 'bnb_bsc' | 'usdt_bsc' | 'usdc_bsc' | 'pol_polygon' | 'usdt_polygon' | 'usdc_polygon' | 'eth_base' | 'usdc_base' | 'eth_arbitrum' | 'usdt_arbitrum' | 'usdc_arbitrum' | 'trx_tron' | 'usdt_tron' | 'sol_solana' | 'usdc_solana' | 'usdt_solana' | null;
    /**
     * The merchant's own strings; a key whose value is null is left out.
     */
    metadata?: {
        [key: string]: string;
    } | null;
    customer?: InvoiceCreateCustomer | null;
    /**
     * Where the checkout links to after payment. An https URL without credentials, as browsers write it; with a test key also http on this machine: `localhost`, `*.localhost`, `*.test` or a loopback address.
     */
    success_url?: string | null;
    /**
     * Where the checkout links to when the payer cancels. An https URL without credentials, as browsers write it; with a test key also http on this machine: `localhost`, `*.localhost`, `*.test` or a loopback address.
     */
    cancel_url?: string | null;
    /**
     * Seconds until the invoice expires. Without it, a setting of the workspace decides: one for invoices with `asset`, one for those without. **Price risk:** together with `asset` it locks the price for this whole time. Above 86400 (24 hours) a coin can lose much of its value before it is paid, and the loss is yours; leave `asset` out, so that the payer gets a price that lasts for minutes and is renewed.
     */
    expires_in?: number | null;
};

/**
 * The payer, if known.
 */
export type InvoiceCreateCustomer = {
    /**
     * Email address of the payer, as browsers accept it.
     */
    email?: string | null;
    /**
     * Name of the payer.
     */
    name?: string | null;
};

/**
 * A scenario for a test invoice.
 */
export type SimulateRequest = {
    /**
     * Scenario to simulate.
     */
    scenario: 'paid' | 'partial' | 'overpaid' | 'expired';
};

/**
 * Parameters of a payment link: a copy of a product, or its own terms.
 */
export type PaymentLinkCreate = {
    /**
     * Copies title, price and currency of this product; leave those out then.
     */
    product_id?: string | null;
    /**
     * Shown to payers. Required without `product_id`.
     */
    title?: string | null;
    /**
     * Further description.
     */
    description?: string | null;
    /**
     * ISO 4217 code. Required without `product_id`.
     */
    currency?: 'USD' | 'EUR' | 'DOP' | 'MXN' | 'COP' | 'BRL' | 'GBP' | 'ARS' | 'CLP' | 'PEN' | null;
    /**
     * Fixed amount. Without `product_id`, either this or `allow_custom_amount`, never both. Greater than zero, with at most the decimals of the currency (none for CLP, two for the others); zeros behind them do not count.
     */
    amount?: string | null;
    /**
     * Lets the payer choose the amount.
     */
    allow_custom_amount?: boolean | null;
    /**
     * Minimum that a payer can choose, at most `max_amount`; only with `allow_custom_amount`. Greater than zero, with at most the decimals of the currency (none for CLP, two for the others); zeros behind them do not count.
     */
    min_amount?: string | null;
    /**
     * Maximum that a payer can choose; only with `allow_custom_amount`. Greater than zero, with at most the decimals of the currency (none for CLP, two for the others); zeros behind them do not count.
     */
    max_amount?: string | null;
};

/**
 * Parameters of a product.
 */
export type ProductCreate = {
    /**
     * Shown to payers.
     */
    name: string;
    /**
     * Price. Greater than zero, with at most the decimals of the currency (none for CLP, two for the others); zeros behind them do not count.
     */
    price: string;
    /**
     * ISO 4217 code.
     */
    currency: 'USD' | 'EUR' | 'DOP' | 'MXN' | 'COP' | 'BRL' | 'GBP' | 'ARS' | 'CLP' | 'PEN';
    /**
     * Further description.
     */
    description?: string | null;
    /**
     * Your own code, compared exactly as written; unique in the workspace and mode.
     */
    sku?: string | null;
};

/**
 * What to convert.
 */
export type EstimateRequest = {
    /**
     * Fiat price. Greater than zero, with at most the decimals of the currency (none for CLP, two for the others); zeros behind them do not count.
     */
    amount: string;
    /**
     * ISO 4217 code.
     */
    currency: 'USD' | 'EUR' | 'DOP' | 'MXN' | 'COP' | 'BRL' | 'GBP' | 'ARS' | 'CLP' | 'PEN';
    /**
     * Asset to convert to.
     */
    asset: 'btc_bitcoin' | 'ltc_litecoin' | 'doge_dogecoin' | 'eth_ethereum' | 'usdt_ethereum' | 'usdc_ethereum' | 'bnb_bsc' | 'usdt_bsc' | 'usdc_bsc' | 'pol_polygon' | 'usdt_polygon' | 'usdc_polygon' | 'eth_base' | 'usdc_base' | 'eth_arbitrum' | 'usdt_arbitrum' | 'usdc_arbitrum' | 'trx_tron' | 'usdt_tron' | 'sol_solana' | 'usdc_solana' | 'usdt_solana';
};

/**
 * Parameters of a webhook endpoint.
 */
export type WebhookEndpointCreate = {
    /**
     * Public https URL without credentials, as browsers write it, port 443 or from 1024 on. A development server accepts `http://localhost:<port>` from test keys.
     */
    url: string;
    /**
     * Event types, or `*` for all.
     */
    events: Array<'*' | 'invoice.created' | 'invoice.pending' | 'invoice.partial' | 'invoice.confirming' | 'invoice.paid' | 'invoice.overpaid' | 'invoice.expired' | 'invoice.late_payment' | 'invoice.cancelled' | 'payment.detected' | 'payment.confirmed' | 'webhook.test'>;
    /**
     * Events it receives: by default those of the mode of the key; `both` requires a live key.
     */
    mode?: 'live' | 'test' | 'both' | null;
    /**
     * A note for you.
     */
    description?: string | null;
};

/**
 * The body of a webhook delivery.
 */
export type Event = {
    /**
     * The same for every delivery of this event: use it to deduplicate.
     */
    id: string;
    object: 'event';
    /**
     * What happened.
     */
    type: 'invoice.created' | 'invoice.pending' | 'invoice.partial' | 'invoice.confirming' | 'invoice.paid' | 'invoice.overpaid' | 'invoice.expired' | 'invoice.late_payment' | 'invoice.cancelled' | 'payment.detected' | 'payment.confirmed' | 'webhook.test' | (string & {});
    /**
     * API version of the event.
     */
    api_version: string;
    /**
     * False for test events.
     */
    livemode: boolean;
    /**
     * When it happened.
     */
    created_at: string;
    /**
     * Data of the event.
     */
    data: {
        /**
         * The invoice at the time of the event.
         */
        object: Invoice;
        /**
         * The payment; on `payment.*` events only.
         */
        payment?: Payment;
    };
};

/**
 * The merchant's own strings, returned unchanged.
 */
export type Metadata = {
    [key: string]: string;
};

/**
 * A fiat amount.
 */
export type Money = {
    /**
     * Decimal amount, with exactly the decimals of the currency (none for CLP, two for the others).
     */
    value: string;
    /**
     * ISO 4217 code.
     */
    currency: 'USD' | 'EUR' | 'DOP' | 'MXN' | 'COP' | 'BRL' | 'GBP' | 'ARS' | 'CLP' | 'PEN' | (string & {});
    /**
     * The same amount in minor units: cents for USD.
     */
    minor: number;
};

/**
 * What to pay on-chain.
 */
export type InvoiceCrypto = {
    /**
     * Asset id: `<symbol>_<network>`.
     */
    asset: 'btc_bitcoin' | 'ltc_litecoin' | 'doge_dogecoin' | 'eth_ethereum' | 'usdt_ethereum' | 'usdc_ethereum' | 'bnb_bsc' | 'usdt_bsc' | 'usdc_bsc' | 'pol_polygon' | 'usdt_polygon' | 'usdc_polygon' | 'eth_base' | 'usdc_base' | 'eth_arbitrum' | 'usdt_arbitrum' | 'usdc_arbitrum' | 'trx_tron' | 'usdt_tron' | 'sol_solana' | 'usdc_solana' | 'usdt_solana' | (string & {});
    /**
     * Network of the asset.
     */
    network: 'bitcoin' | 'litecoin' | 'dogecoin' | 'ethereum' | 'bsc' | 'polygon' | 'base' | 'arbitrum' | 'tron' | 'solana' | (string & {});
    /**
     * Ticker of the asset, in capitals.
     */
    symbol: string;
    /**
     * Exact amount to pay, in units of the asset: the whole price, or what was paid so far plus the rest at the current rate. After a part payment ask for the amount in `uri`: the rest, rounded up to what a payer can type and the chain carries.
     */
    amount: string;
    /**
     * The same amount in base units: satoshi, wei, lamports.
     */
    amount_base_units: string;
    /**
     * Decimals between base units and `amount`: 8 for BTC.
     */
    decimals: number;
    /**
     * Address to pay to. It belongs to this invoice.
     */
    address: string;
    /**
     * For wallets and QR codes: a payment link for what is left to pay now. On TRON, where wallets agree on no link, the plain address. Empty while nothing is asked for: confirming, paid, overpaid, expired, cancelled, or only a new price on the checkout can name an amount.
     */
    uri: string;
    /**
     * Confirmations that a payment needs; fixed when the asset was locked.
     */
    required_confirmations: number;
};

/**
 * The rate used to compute the crypto amount.
 */
export type InvoiceRate = {
    /**
     * Price of one unit of the asset in the invoice currency, in full precision.
     */
    fiat_per_asset: string;
    /**
     * When the rate was fixed.
     */
    locked_at: string;
    /**
     * When the locked rate and exact amount expire. After that the payer gets a new price for what is left.
     */
    expires_at: string;
};

/**
 * Amounts received so far.
 */
export type InvoiceReceived = {
    /**
     * Sum of counted payments, confirmed or not, in units of the locked asset.
     */
    amount: string;
    /**
     * The same sum in base units.
     */
    amount_base_units: string;
    /**
     * The confirmed part of it in base units.
     */
    confirmed_base_units: string;
};

/**
 * Circumstances in addition to the status.
 */
export type InvoiceFlags = {
    /**
     * A payment arrived after the invoice expired.
     */
    paid_late: boolean;
    /**
     * Less than the full amount counts as paid: the merchant accepted it, or nobody can send so small a rest.
     */
    underpaid_accepted: boolean;
};

/**
 * The payer, if given.
 */
export type InvoiceCustomer = {
    /**
     * Email address given at creation.
     */
    email: string | null;
    /**
     * Name given at creation.
     */
    name: string | null;
};

/**
 * Pages around the invoice.
 */
export type InvoiceUrls = {
    /**
     * Hosted checkout page: send the payer there.
     */
    checkout: string;
    /**
     * Receipt page.
     */
    receipt: string;
    /**
     * Where the checkout links to after payment.
     */
    success: string | null;
    /**
     * Where the checkout links to when the payer cancels.
     */
    cancel: string | null;
};

/**
 * A fiat price, paid on-chain in a crypto asset.
 */
export type Invoice = {
    /**
     * Unique.
     */
    id: string;
    object: 'invoice';
    /**
     * Counts up per workspace and mode; gaps are possible.
     */
    number: number;
    /**
     * State of the invoice.
     */
    status: 'new' | 'pending' | 'partial' | 'confirming' | 'paid' | 'overpaid' | 'expired' | 'cancelled' | (string & {});
    /**
     * False for test invoices.
     */
    livemode: boolean;
    /**
     * Text for the payer.
     */
    description: string | null;
    /**
     * The merchant's own reference.
     */
    order_id: string | null;
    metadata: Metadata;
    /**
     * Price in fiat.
     */
    amount: Money;
    /**
     * What to pay on-chain; null until an asset is locked.
     */
    crypto: InvoiceCrypto | null;
    /**
     * Locked rate; null until an asset is locked.
     */
    rate: InvoiceRate | null;
    received: InvoiceReceived;
    flags: InvoiceFlags;
    customer: InvoiceCustomer;
    urls: InvoiceUrls;
    /**
     * The payment link that created it.
     */
    payment_link_id: string | null;
    /**
     * The product of that payment link.
     */
    product_id: string | null;
    /**
     * Source: `api` for invoices created with a key.
     */
    source: 'link' | 'api' | 'manual' | 'billing' | (string & {});
    /**
     * When it was created.
     */
    created_at: string;
    /**
     * The invoice expires if the full amount has not arrived by then.
     */
    expires_at: string;
    /**
     * When the full amount was confirmed.
     */
    paid_at: string | null;
    /**
     * When it last changed.
     */
    updated_at: string;
};

/**
 * An on-chain transfer attributed to an invoice.
 */
export type Payment = {
    /**
     * Unique.
     */
    id: string;
    object: 'payment';
    /**
     * False for payments of test invoices.
     */
    livemode: boolean;
    /**
     * The invoice it was attributed to.
     */
    invoice_id: string;
    /**
     * Asset id: `<symbol>_<network>`.
     */
    asset: 'btc_bitcoin' | 'ltc_litecoin' | 'doge_dogecoin' | 'eth_ethereum' | 'usdt_ethereum' | 'usdc_ethereum' | 'bnb_bsc' | 'usdt_bsc' | 'usdc_bsc' | 'pol_polygon' | 'usdt_polygon' | 'usdc_polygon' | 'eth_base' | 'usdc_base' | 'eth_arbitrum' | 'usdt_arbitrum' | 'usdc_arbitrum' | 'trx_tron' | 'usdt_tron' | 'sol_solana' | 'usdc_solana' | 'usdt_solana' | (string & {});
    /**
     * Network of the asset.
     */
    network: 'bitcoin' | 'litecoin' | 'dogecoin' | 'ethereum' | 'bsc' | 'polygon' | 'base' | 'arbitrum' | 'tron' | 'solana' | (string & {});
    /**
     * Ticker of the asset, in capitals.
     */
    symbol: string;
    /**
     * Amount in units of the asset.
     */
    amount: string;
    /**
     * Amount in base units.
     */
    amount_base_units: string;
    /**
     * Decimals between base units and `amount`: 8 for BTC.
     */
    decimals: number;
    /**
     * `detected` and `confirmed` payments exist on the chain; `replaced`, `dropped` and `orphaned` ones no longer do.
     */
    status: 'detected' | 'confirmed' | 'replaced' | 'dropped' | 'orphaned' | (string & {});
    /**
     * Transaction; null for simulated payments, and for coins from a contract call that only the balance of the address shows.
     */
    tx_hash: string | null;
    /**
     * Output, log or instruction inside the transaction.
     */
    output_index: number | null;
    /**
     * Sender, if the chain has one.
     */
    from_address: string | null;
    /**
     * The invoice address that received it.
     */
    to_address: string;
    /**
     * Block or slot; null until it is in one.
     */
    block_number: number | null;
    /**
     * Hash of that block.
     */
    block_hash: string | null;
    /**
     * Confirmations so far, including its own block.
     */
    confirmations: number;
    /**
     * Confirmations required.
     */
    required_confirmations: number;
    /**
     * Whether it counts towards the invoice.
     */
    counted: boolean;
    /**
     * Why it does not count: `wrong_asset`, `out_of_quote`, `dust` (too small to change anything) and others.
     */
    uncounted_reason: string | null;
    /**
     * It arrived after the invoice expired.
     */
    late: boolean;
    /**
     * It was created with the simulate operation.
     */
    simulated: boolean;
    /**
     * The transaction in a public block explorer.
     */
    explorer_url: string | null;
    /**
     * When it was first seen.
     */
    detected_at: string;
    /**
     * When it reached the required confirmations.
     */
    confirmed_at: string | null;
    /**
     * When it was first recorded.
     */
    created_at: string;
    /**
     * When it last changed.
     */
    updated_at: string;
};

/**
 * The envelope of every error.
 */
export type ErrorResponse = {
    data: null;
    error: Error;
    /**
     * Names this request in logs and in questions to support.
     */
    request_id: string;
};

/**
 * The error.
 */
export type Error = {
    /**
     * Machine-readable error code.
     */
    code: 'VALIDATION_ERROR' | 'UNSUPPORTED_ASSET' | 'NO_WALLET_FOR_ASSET' | 'AMOUNT_BELOW_MINIMUM' | 'UNAUTHENTICATED' | 'FORBIDDEN_SCOPE' | 'WORKSPACE_SUSPENDED' | 'WORKSPACE_RESTRICTED' | 'PLAN_LIMIT_REACHED' | 'TEST_MODE_ONLY' | 'NOT_FOUND' | 'INVALID_STATE' | 'IDEMPOTENCY_MISMATCH' | 'IDEMPOTENCY_IN_PROGRESS' | 'RATE_LIMITED' | 'INTERNAL_ERROR' | 'RATES_UNAVAILABLE' | (string & {});
    /**
     * Human-readable message. The text may change.
     */
    message: string;
    /**
     * Offending fields of a `VALIDATION_ERROR`.
     */
    details?: Array<ErrorDetail>;
};

/**
 * One offending field.
 */
export type ErrorDetail = {
    /**
     * Dotted path of the offending field: `customer.email`, `events.2`.
     */
    path: string;
    /**
     * What is wrong.
     */
    message: string;
};

/**
 * The envelope around a page of a list.
 */
export type InvoiceListResponse = {
    data: Array<Invoice>;
    meta: ListMeta;
    /**
     * Null on success.
     */
    error: null;
    /**
     * Names this request in logs and in questions to support.
     */
    request_id: string;
};

/**
 * Position in the list.
 */
export type ListMeta = {
    /**
     * Pass it as `cursor` for the next page; null on the last one.
     */
    next_cursor: string | null;
    /**
     * Whether there is a next page.
     */
    has_more: boolean;
};

/**
 * The envelope around one resource.
 */
export type InvoiceResponse = {
    data: Invoice;
    /**
     * Null on success.
     */
    error: null;
    /**
     * Names this request in logs and in questions to support.
     */
    request_id: string;
};

/**
 * The envelope around a page of a list.
 */
export type PaymentLinkListResponse = {
    data: Array<PaymentLink>;
    meta: ListMeta;
    /**
     * Null on success.
     */
    error: null;
    /**
     * Names this request in logs and in questions to support.
     */
    request_id: string;
};

/**
 * A page that creates an invoice for each payer.
 */
export type PaymentLink = {
    /**
     * Unique.
     */
    id: string;
    object: 'payment_link';
    /**
     * False for test links.
     */
    livemode: boolean;
    /**
     * An inactive link accepts no new payments.
     */
    status: 'active' | 'inactive' | (string & {});
    /**
     * Shown to payers.
     */
    title: string;
    /**
     * Further description, shown to payers.
     */
    description: string | null;
    /**
     * ISO 4217 code.
     */
    currency: 'USD' | 'EUR' | 'DOP' | 'MXN' | 'COP' | 'BRL' | 'GBP' | 'ARS' | 'CLP' | 'PEN' | (string & {});
    /**
     * Fixed amount; null when the payer chooses it.
     */
    amount: string | null;
    /**
     * Whether the payer chooses the amount.
     */
    allow_custom_amount: boolean;
    /**
     * Minimum that a payer can choose.
     */
    min_amount: string | null;
    /**
     * Maximum that a payer can choose.
     */
    max_amount: string | null;
    /**
     * The product whose title, price and currency were copied.
     */
    product_id: string | null;
    /**
     * The page for payers.
     */
    url: string;
    /**
     * Invoices created from it.
     */
    uses: number;
    /**
     * When it stopped accepting new payments.
     */
    deactivated_at: string | null;
    /**
     * When it was created.
     */
    created_at: string;
    /**
     * When it last changed.
     */
    updated_at: string;
};

/**
 * The envelope around one resource.
 */
export type PaymentLinkResponse = {
    data: PaymentLink;
    /**
     * Null on success.
     */
    error: null;
    /**
     * Names this request in logs and in questions to support.
     */
    request_id: string;
};

/**
 * The envelope around a page of a list.
 */
export type ProductListResponse = {
    data: Array<Product>;
    meta: ListMeta;
    /**
     * Null on success.
     */
    error: null;
    /**
     * Names this request in logs and in questions to support.
     */
    request_id: string;
};

/**
 * Something that payment links sell.
 */
export type Product = {
    /**
     * Unique.
     */
    id: string;
    object: 'product';
    /**
     * False for test products.
     */
    livemode: boolean;
    /**
     * Shown to payers.
     */
    name: string;
    /**
     * Further description.
     */
    description: string | null;
    /**
     * Price, with exactly the decimals of the currency.
     */
    price: string;
    /**
     * ISO 4217 code.
     */
    currency: 'USD' | 'EUR' | 'DOP' | 'MXN' | 'COP' | 'BRL' | 'GBP' | 'ARS' | 'CLP' | 'PEN' | (string & {});
    /**
     * Your own code; unique in the workspace and mode.
     */
    sku: string | null;
    /**
     * You cannot create payment links for an inactive product.
     */
    active: boolean;
    /**
     * When it was created.
     */
    created_at: string;
    /**
     * When it last changed.
     */
    updated_at: string;
};

/**
 * The envelope around one resource.
 */
export type ProductResponse = {
    data: Product;
    /**
     * Null on success.
     */
    error: null;
    /**
     * Names this request in logs and in questions to support.
     */
    request_id: string;
};

/**
 * The envelope around a page of a list.
 */
export type PaymentListResponse = {
    data: Array<Payment>;
    meta: ListMeta;
    /**
     * Null on success.
     */
    error: null;
    /**
     * Names this request in logs and in questions to support.
     */
    request_id: string;
};

/**
 * The envelope around a page of a list.
 */
export type CurrencyListResponse = {
    data: Array<Currency>;
    meta: ListMeta;
    /**
     * Null on success.
     */
    error: null;
    /**
     * Names this request in logs and in questions to support.
     */
    request_id: string;
};

/**
 * A supported crypto asset.
 */
export type Currency = {
    /**
     * Asset id: `<symbol>_<network>`.
     */
    id: 'btc_bitcoin' | 'ltc_litecoin' | 'doge_dogecoin' | 'eth_ethereum' | 'usdt_ethereum' | 'usdc_ethereum' | 'bnb_bsc' | 'usdt_bsc' | 'usdc_bsc' | 'pol_polygon' | 'usdt_polygon' | 'usdc_polygon' | 'eth_base' | 'usdc_base' | 'eth_arbitrum' | 'usdt_arbitrum' | 'usdc_arbitrum' | 'trx_tron' | 'usdt_tron' | 'sol_solana' | 'usdc_solana' | 'usdt_solana' | (string & {});
    object: 'currency';
    /**
     * The mode of the key: availability may differ between the two.
     */
    livemode: boolean;
    /**
     * Ticker of the asset, in capitals.
     */
    symbol: string;
    /**
     * Network of the asset.
     */
    network: 'bitcoin' | 'litecoin' | 'dogecoin' | 'ethereum' | 'bsc' | 'polygon' | 'base' | 'arbitrum' | 'tron' | 'solana' | (string & {});
    /**
     * Display name.
     */
    name: string;
    /**
     * Decimals between base units and `amount`: 8 for BTC.
     */
    decimals: number;
    /**
     * Token contract or mint; null for the coin of the network.
     */
    contract_address: string | null;
    /**
     * Minimum amount of an invoice, in units of the asset.
     */
    min_amount: string;
    /**
     * Confirmations required for an ordinary invoice; `crypto.required_confirmations` of an invoice is the number required for its value.
     */
    confirmations: number;
    /**
     * Whether this workspace can receive it now.
     */
    available: boolean;
    /**
     * Reason; null exactly when `available` is true.
     */
    unavailable_reason: 'no_wallet' | 'network_not_configured' | 'asset_not_on_network' | 'network_lagging' | 'rates_unavailable' | 'addresses_exhausted' | (string & {}) | null;
    /**
     * A node is behind the network, so that real transfers are seen.
     */
    watched: boolean;
    /**
     * When the workspace was created.
     */
    created_at: string;
    /**
     * When availability was checked: now.
     */
    updated_at: string;
};

/**
 * The envelope around a page of a list.
 */
export type RateListResponse = {
    data: Array<Rate>;
    meta: ListMeta;
    /**
     * Null on success.
     */
    error: null;
    /**
     * Names this request in logs and in questions to support.
     */
    request_id: string;
};

/**
 * Current price of one unit of an asset, including the workspace's spread.
 */
export type Rate = {
    object: 'rate';
    /**
     * The mode of the key.
     */
    livemode: boolean;
    /**
     * Asset id: `<symbol>_<network>`.
     */
    asset: 'btc_bitcoin' | 'ltc_litecoin' | 'doge_dogecoin' | 'eth_ethereum' | 'usdt_ethereum' | 'usdc_ethereum' | 'bnb_bsc' | 'usdt_bsc' | 'usdc_bsc' | 'pol_polygon' | 'usdt_polygon' | 'usdc_polygon' | 'eth_base' | 'usdc_base' | 'eth_arbitrum' | 'usdt_arbitrum' | 'usdc_arbitrum' | 'trx_tron' | 'usdt_tron' | 'sol_solana' | 'usdc_solana' | 'usdt_solana' | (string & {});
    /**
     * Ticker of the asset, in capitals.
     */
    symbol: string;
    /**
     * Network of the asset.
     */
    network: 'bitcoin' | 'litecoin' | 'dogecoin' | 'ethereum' | 'bsc' | 'polygon' | 'base' | 'arbitrum' | 'tron' | 'solana' | (string & {});
    /**
     * Currency of the price.
     */
    fiat: 'USD' | 'EUR' | 'DOP' | 'MXN' | 'COP' | 'BRL' | 'GBP' | 'ARS' | 'CLP' | 'PEN' | (string & {});
    /**
     * Price of one unit of the asset, in full precision.
     */
    fiat_per_asset: string;
    /**
     * Number of independent sources of the price.
     */
    sources: number;
    /**
     * Time of the oldest price in it: a rate never changes, the next one takes its place.
     */
    created_at: string;
    /**
     * Time of the oldest price in it.
     */
    updated_at: string;
    /**
     * The rate is not used after this time.
     */
    expires_at: string;
};

/**
 * The envelope around one resource.
 */
export type EstimateResponse = {
    data: Estimate;
    /**
     * Null on success.
     */
    error: null;
    /**
     * Names this request in logs and in questions to support.
     */
    request_id: string;
};

/**
 * The amount that a lock at this moment would require.
 */
export type Estimate = {
    object: 'estimate';
    /**
     * The mode of the key.
     */
    livemode: boolean;
    /**
     * Asset id: `<symbol>_<network>`.
     */
    asset: 'btc_bitcoin' | 'ltc_litecoin' | 'doge_dogecoin' | 'eth_ethereum' | 'usdt_ethereum' | 'usdc_ethereum' | 'bnb_bsc' | 'usdt_bsc' | 'usdc_bsc' | 'pol_polygon' | 'usdt_polygon' | 'usdc_polygon' | 'eth_base' | 'usdc_base' | 'eth_arbitrum' | 'usdt_arbitrum' | 'usdc_arbitrum' | 'trx_tron' | 'usdt_tron' | 'sol_solana' | 'usdc_solana' | 'usdt_solana' | (string & {});
    /**
     * Network of the asset.
     */
    network: 'bitcoin' | 'litecoin' | 'dogecoin' | 'ethereum' | 'bsc' | 'polygon' | 'base' | 'arbitrum' | 'tron' | 'solana' | (string & {});
    /**
     * Ticker of the asset, in capitals.
     */
    symbol: string;
    /**
     * The price to convert.
     */
    fiat: Money;
    /**
     * The price in units of the asset, rounded up like an invoice.
     */
    amount: string;
    /**
     * The same amount in base units.
     */
    amount_base_units: string;
    /**
     * Decimals between base units and `amount`: 8 for BTC.
     */
    decimals: number;
    /**
     * Price of one unit of the asset, in full precision.
     */
    fiat_per_asset: string;
    /**
     * Invoices below this amount, in units of the asset, are refused; estimates are not.
     */
    min_amount: string;
    /**
     * Time of the oldest price in the rate.
     */
    rate_updated_at: string;
    /**
     * When it was created.
     */
    created_at: string;
    /**
     * The same: an estimate never changes.
     */
    updated_at: string;
};

/**
 * The envelope around a page of a list.
 */
export type WebhookEndpointListResponse = {
    data: Array<WebhookEndpoint>;
    meta: ListMeta;
    /**
     * Null on success.
     */
    error: null;
    /**
     * Names this request in logs and in questions to support.
     */
    request_id: string;
};

/**
 * Your URL that receives signed events.
 */
export type WebhookEndpoint = {
    /**
     * Unique.
     */
    id: string;
    object: 'webhook_endpoint';
    /**
     * False when it only receives test events.
     */
    livemode: boolean;
    /**
     * Where events are sent.
     */
    url: string;
    /**
     * Event types it receives, or `*` for all.
     */
    events: Array<'*' | 'invoice.created' | 'invoice.pending' | 'invoice.partial' | 'invoice.confirming' | 'invoice.paid' | 'invoice.overpaid' | 'invoice.expired' | 'invoice.late_payment' | 'invoice.cancelled' | 'payment.detected' | 'payment.confirmed' | 'webhook.test' | (string & {})>;
    /**
     * Which events it receives.
     */
    mode: 'live' | 'test' | 'both' | (string & {});
    /**
     * Your own note.
     */
    description: string | null;
    /**
     * A disabled endpoint receives nothing.
     */
    status: 'enabled' | 'disabled' | (string & {});
    /**
     * When it was created.
     */
    created_at: string;
    /**
     * When it last changed.
     */
    updated_at: string;
};

/**
 * The envelope around one resource.
 */
export type WebhookEndpointCreatedResponse = {
    data: WebhookEndpointCreated;
    /**
     * Null on success.
     */
    error: null;
    /**
     * Names this request in logs and in questions to support.
     */
    request_id: string;
};

/**
 * A new webhook endpoint with its signing secret.
 */
export type WebhookEndpointCreated = {
    /**
     * Unique.
     */
    id: string;
    object: 'webhook_endpoint';
    /**
     * False when it only receives test events.
     */
    livemode: boolean;
    /**
     * Where events are sent.
     */
    url: string;
    /**
     * Event types it receives, or `*` for all.
     */
    events: Array<'*' | 'invoice.created' | 'invoice.pending' | 'invoice.partial' | 'invoice.confirming' | 'invoice.paid' | 'invoice.overpaid' | 'invoice.expired' | 'invoice.late_payment' | 'invoice.cancelled' | 'payment.detected' | 'payment.confirmed' | 'webhook.test' | (string & {})>;
    /**
     * Which events it receives.
     */
    mode: 'live' | 'test' | 'both' | (string & {});
    /**
     * Your own note.
     */
    description: string | null;
    /**
     * A disabled endpoint receives nothing.
     */
    status: 'enabled' | 'disabled' | (string & {});
    /**
     * When it was created.
     */
    created_at: string;
    /**
     * When it last changed.
     */
    updated_at: string;
    /**
     * Signing secret. It is shown only once.
     */
    secret: string;
    /**
     * What is probably a mistake, such as another endpoint with the same URL, which then gets every event twice; null otherwise.
     */
    warning: string | null;
};

/**
 * The envelope around one resource.
 */
export type DeletedResponse = {
    data: Deleted;
    /**
     * Null on success.
     */
    error: null;
    /**
     * Names this request in logs and in questions to support.
     */
    request_id: string;
};

/**
 * The deleted endpoint.
 */
export type Deleted = {
    /**
     * ID of the deleted endpoint.
     */
    id: string;
    /**
     * The deleted endpoint.
     */
    object: 'webhook_endpoint';
    deleted: boolean;
};

/**
 * Makes it safe to repeat the request: for 24 hours a repetition returns the first response.
 */
export type IdempotencyKey = string;

export type ListInvoicesData = {
    body?: never;
    path?: never;
    query?: {
        /**
         * Most records of a page.
         */
        limit?: number;
        /**
         * `meta.next_cursor` of the page before; opaque.
         */
        cursor?: string;
        /**
         * Only invoices in this state.
         */
        status?: 'new' | 'pending' | 'partial' | 'confirming' | 'paid' | 'overpaid' | 'expired' | 'cancelled';
        /**
         * Only invoices with exactly this reference.
         */
        order_id?: string;
        /**
         * Only invoices created later than this: ISO 8601 with `Z` or an offset.
         */
        created_after?: string;
        /**
         * Only invoices created earlier than this: ISO 8601 with `Z` or an offset.
         */
        created_before?: string;
    };
    url: '/invoices';
};

export type ListInvoicesErrors = {
    /**
     * `VALIDATION_ERROR`: The request is invalid.
     */
    400: ErrorResponse;
    /**
     * `UNAUTHENTICATED`: The API key is missing or invalid.
     */
    401: ErrorResponse;
    /**
     * `FORBIDDEN_SCOPE`: The API key lacks the required scope. `WORKSPACE_SUSPENDED`: The workspace is suspended.
     */
    403: ErrorResponse;
    /**
     * `RATE_LIMITED`: Too many requests.
     */
    429: ErrorResponse;
    /**
     * `INTERNAL_ERROR`: Something went wrong on our side.
     */
    500: ErrorResponse;
};

export type ListInvoicesError = ListInvoicesErrors[keyof ListInvoicesErrors];

export type ListInvoicesResponses = {
    /**
     * A page of invoices.
     */
    200: InvoiceListResponse;
};

export type ListInvoicesResponse = ListInvoicesResponses[keyof ListInvoicesResponses];

export type CreateInvoiceData = {
    body: InvoiceCreate;
    headers?: {
        /**
         * Makes it safe to repeat the request: for 24 hours a repetition returns the first response.
         */
        'Idempotency-Key'?: string;
    };
    path?: never;
    query?: never;
    url: '/invoices';
};

export type CreateInvoiceErrors = {
    /**
     * `VALIDATION_ERROR`: The request is invalid. `UNSUPPORTED_ASSET`: This asset is not supported. `NO_WALLET_FOR_ASSET`: This workspace cannot receive this asset right now. `AMOUNT_BELOW_MINIMUM`: The amount is below the minimum for this asset.
     */
    400: ErrorResponse;
    /**
     * `UNAUTHENTICATED`: The API key is missing or invalid.
     */
    401: ErrorResponse;
    /**
     * `FORBIDDEN_SCOPE`: The API key lacks the required scope. `WORKSPACE_SUSPENDED`: The workspace is suspended. `PLAN_LIMIT_REACHED`: The plan limit has been reached. `WORKSPACE_RESTRICTED`: The workspace is restricted and cannot create this resource.
     */
    403: ErrorResponse;
    /**
     * `IDEMPOTENCY_MISMATCH`: The idempotency key was already used with a different request. `IDEMPOTENCY_IN_PROGRESS`: A request with this idempotency key is still running.
     */
    409: ErrorResponse;
    /**
     * `VALIDATION_ERROR`: The request body is larger than 256 KB.
     */
    413: ErrorResponse;
    /**
     * `VALIDATION_ERROR`: The request body must be application/json in UTF-8, without a content encoding.
     */
    415: ErrorResponse;
    /**
     * `RATE_LIMITED`: Too many requests.
     */
    429: ErrorResponse;
    /**
     * `INTERNAL_ERROR`: Something went wrong on our side.
     */
    500: ErrorResponse;
    /**
     * `RATES_UNAVAILABLE`: No current rate is available right now.
     */
    503: ErrorResponse;
};

export type CreateInvoiceError = CreateInvoiceErrors[keyof CreateInvoiceErrors];

export type CreateInvoiceResponses = {
    /**
     * The new invoice.
     */
    201: InvoiceResponse;
};

export type CreateInvoiceResponse = CreateInvoiceResponses[keyof CreateInvoiceResponses];

export type GetInvoiceData = {
    body?: never;
    path: {
        /**
         * Id of the resource.
         */
        id: string;
    };
    query?: never;
    url: '/invoices/{id}';
};

export type GetInvoiceErrors = {
    /**
     * `VALIDATION_ERROR`: The request is invalid.
     */
    400: ErrorResponse;
    /**
     * `UNAUTHENTICATED`: The API key is missing or invalid.
     */
    401: ErrorResponse;
    /**
     * `FORBIDDEN_SCOPE`: The API key lacks the required scope. `WORKSPACE_SUSPENDED`: The workspace is suspended.
     */
    403: ErrorResponse;
    /**
     * `NOT_FOUND`: Resource not found.
     */
    404: ErrorResponse;
    /**
     * `RATE_LIMITED`: Too many requests.
     */
    429: ErrorResponse;
    /**
     * `INTERNAL_ERROR`: Something went wrong on our side.
     */
    500: ErrorResponse;
};

export type GetInvoiceError = GetInvoiceErrors[keyof GetInvoiceErrors];

export type GetInvoiceResponses = {
    /**
     * The invoice.
     */
    200: InvoiceResponse;
};

export type GetInvoiceResponse = GetInvoiceResponses[keyof GetInvoiceResponses];

export type CancelInvoiceData = {
    body?: never;
    headers?: {
        /**
         * Makes it safe to repeat the request: for 24 hours a repetition returns the first response.
         */
        'Idempotency-Key'?: string;
    };
    path: {
        /**
         * Id of the resource.
         */
        id: string;
    };
    query?: never;
    url: '/invoices/{id}/cancel';
};

export type CancelInvoiceErrors = {
    /**
     * `VALIDATION_ERROR`: The request is invalid.
     */
    400: ErrorResponse;
    /**
     * `UNAUTHENTICATED`: The API key is missing or invalid.
     */
    401: ErrorResponse;
    /**
     * `FORBIDDEN_SCOPE`: The API key lacks the required scope. `WORKSPACE_SUSPENDED`: The workspace is suspended.
     */
    403: ErrorResponse;
    /**
     * `NOT_FOUND`: Resource not found.
     */
    404: ErrorResponse;
    /**
     * `INVALID_STATE`: The state of the resource does not allow this. `IDEMPOTENCY_MISMATCH`: The idempotency key was already used with a different request. `IDEMPOTENCY_IN_PROGRESS`: A request with this idempotency key is still running.
     */
    409: ErrorResponse;
    /**
     * `VALIDATION_ERROR`: The request body is larger than 256 KB.
     */
    413: ErrorResponse;
    /**
     * `VALIDATION_ERROR`: The request body must be application/json in UTF-8, without a content encoding.
     */
    415: ErrorResponse;
    /**
     * `RATE_LIMITED`: Too many requests.
     */
    429: ErrorResponse;
    /**
     * `INTERNAL_ERROR`: Something went wrong on our side.
     */
    500: ErrorResponse;
};

export type CancelInvoiceError = CancelInvoiceErrors[keyof CancelInvoiceErrors];

export type CancelInvoiceResponses = {
    /**
     * The cancelled invoice.
     */
    200: InvoiceResponse;
};

export type CancelInvoiceResponse = CancelInvoiceResponses[keyof CancelInvoiceResponses];

export type SimulateInvoiceData = {
    body: SimulateRequest;
    headers?: {
        /**
         * Makes it safe to repeat the request: for 24 hours a repetition returns the first response.
         */
        'Idempotency-Key'?: string;
    };
    path: {
        /**
         * Id of the resource.
         */
        id: string;
    };
    query?: never;
    url: '/test/invoices/{id}/simulate';
};

export type SimulateInvoiceErrors = {
    /**
     * `VALIDATION_ERROR`: The request is invalid. `NO_WALLET_FOR_ASSET`: This workspace cannot receive this asset right now. `AMOUNT_BELOW_MINIMUM`: The amount is below the minimum for this asset.
     */
    400: ErrorResponse;
    /**
     * `UNAUTHENTICATED`: The API key is missing or invalid.
     */
    401: ErrorResponse;
    /**
     * `FORBIDDEN_SCOPE`: The API key lacks the required scope. `WORKSPACE_SUSPENDED`: The workspace is suspended. `TEST_MODE_ONLY`: This operation requires a test key.
     */
    403: ErrorResponse;
    /**
     * `NOT_FOUND`: Resource not found.
     */
    404: ErrorResponse;
    /**
     * `INVALID_STATE`: The state of the resource does not allow this. `IDEMPOTENCY_MISMATCH`: The idempotency key was already used with a different request. `IDEMPOTENCY_IN_PROGRESS`: A request with this idempotency key is still running.
     */
    409: ErrorResponse;
    /**
     * `VALIDATION_ERROR`: The request body is larger than 256 KB.
     */
    413: ErrorResponse;
    /**
     * `VALIDATION_ERROR`: The request body must be application/json in UTF-8, without a content encoding.
     */
    415: ErrorResponse;
    /**
     * `RATE_LIMITED`: Too many requests.
     */
    429: ErrorResponse;
    /**
     * `INTERNAL_ERROR`: Something went wrong on our side.
     */
    500: ErrorResponse;
    /**
     * `RATES_UNAVAILABLE`: No current rate is available right now.
     */
    503: ErrorResponse;
};

export type SimulateInvoiceError = SimulateInvoiceErrors[keyof SimulateInvoiceErrors];

export type SimulateInvoiceResponses = {
    /**
     * The invoice afterwards.
     */
    200: InvoiceResponse;
};

export type SimulateInvoiceResponse = SimulateInvoiceResponses[keyof SimulateInvoiceResponses];

export type ListPaymentLinksData = {
    body?: never;
    path?: never;
    query?: {
        /**
         * Most records of a page.
         */
        limit?: number;
        /**
         * `meta.next_cursor` of the page before; opaque.
         */
        cursor?: string;
    };
    url: '/payment-links';
};

export type ListPaymentLinksErrors = {
    /**
     * `VALIDATION_ERROR`: The request is invalid.
     */
    400: ErrorResponse;
    /**
     * `UNAUTHENTICATED`: The API key is missing or invalid.
     */
    401: ErrorResponse;
    /**
     * `FORBIDDEN_SCOPE`: The API key lacks the required scope. `WORKSPACE_SUSPENDED`: The workspace is suspended.
     */
    403: ErrorResponse;
    /**
     * `RATE_LIMITED`: Too many requests.
     */
    429: ErrorResponse;
    /**
     * `INTERNAL_ERROR`: Something went wrong on our side.
     */
    500: ErrorResponse;
};

export type ListPaymentLinksError = ListPaymentLinksErrors[keyof ListPaymentLinksErrors];

export type ListPaymentLinksResponses = {
    /**
     * A page of payment links.
     */
    200: PaymentLinkListResponse;
};

export type ListPaymentLinksResponse = ListPaymentLinksResponses[keyof ListPaymentLinksResponses];

export type CreatePaymentLinkData = {
    body: PaymentLinkCreate;
    headers?: {
        /**
         * Makes it safe to repeat the request: for 24 hours a repetition returns the first response.
         */
        'Idempotency-Key'?: string;
    };
    path?: never;
    query?: never;
    url: '/payment-links';
};

export type CreatePaymentLinkErrors = {
    /**
     * `VALIDATION_ERROR`: The request is invalid.
     */
    400: ErrorResponse;
    /**
     * `UNAUTHENTICATED`: The API key is missing or invalid.
     */
    401: ErrorResponse;
    /**
     * `FORBIDDEN_SCOPE`: The API key lacks the required scope. `WORKSPACE_SUSPENDED`: The workspace is suspended. `PLAN_LIMIT_REACHED`: The plan limit has been reached. `WORKSPACE_RESTRICTED`: The workspace is restricted and cannot create this resource.
     */
    403: ErrorResponse;
    /**
     * `NOT_FOUND`: Resource not found.
     */
    404: ErrorResponse;
    /**
     * `INVALID_STATE`: The state of the resource does not allow this. `IDEMPOTENCY_MISMATCH`: The idempotency key was already used with a different request. `IDEMPOTENCY_IN_PROGRESS`: A request with this idempotency key is still running.
     */
    409: ErrorResponse;
    /**
     * `VALIDATION_ERROR`: The request body is larger than 256 KB.
     */
    413: ErrorResponse;
    /**
     * `VALIDATION_ERROR`: The request body must be application/json in UTF-8, without a content encoding.
     */
    415: ErrorResponse;
    /**
     * `RATE_LIMITED`: Too many requests.
     */
    429: ErrorResponse;
    /**
     * `INTERNAL_ERROR`: Something went wrong on our side.
     */
    500: ErrorResponse;
};

export type CreatePaymentLinkError = CreatePaymentLinkErrors[keyof CreatePaymentLinkErrors];

export type CreatePaymentLinkResponses = {
    /**
     * The new payment link.
     */
    201: PaymentLinkResponse;
};

export type CreatePaymentLinkResponse = CreatePaymentLinkResponses[keyof CreatePaymentLinkResponses];

export type GetPaymentLinkData = {
    body?: never;
    path: {
        /**
         * Id of the resource.
         */
        id: string;
    };
    query?: never;
    url: '/payment-links/{id}';
};

export type GetPaymentLinkErrors = {
    /**
     * `VALIDATION_ERROR`: The request is invalid.
     */
    400: ErrorResponse;
    /**
     * `UNAUTHENTICATED`: The API key is missing or invalid.
     */
    401: ErrorResponse;
    /**
     * `FORBIDDEN_SCOPE`: The API key lacks the required scope. `WORKSPACE_SUSPENDED`: The workspace is suspended.
     */
    403: ErrorResponse;
    /**
     * `NOT_FOUND`: Resource not found.
     */
    404: ErrorResponse;
    /**
     * `RATE_LIMITED`: Too many requests.
     */
    429: ErrorResponse;
    /**
     * `INTERNAL_ERROR`: Something went wrong on our side.
     */
    500: ErrorResponse;
};

export type GetPaymentLinkError = GetPaymentLinkErrors[keyof GetPaymentLinkErrors];

export type GetPaymentLinkResponses = {
    /**
     * The payment link.
     */
    200: PaymentLinkResponse;
};

export type GetPaymentLinkResponse = GetPaymentLinkResponses[keyof GetPaymentLinkResponses];

export type DeactivatePaymentLinkData = {
    body?: never;
    headers?: {
        /**
         * Makes it safe to repeat the request: for 24 hours a repetition returns the first response.
         */
        'Idempotency-Key'?: string;
    };
    path: {
        /**
         * Id of the resource.
         */
        id: string;
    };
    query?: never;
    url: '/payment-links/{id}/deactivate';
};

export type DeactivatePaymentLinkErrors = {
    /**
     * `VALIDATION_ERROR`: The request is invalid.
     */
    400: ErrorResponse;
    /**
     * `UNAUTHENTICATED`: The API key is missing or invalid.
     */
    401: ErrorResponse;
    /**
     * `FORBIDDEN_SCOPE`: The API key lacks the required scope. `WORKSPACE_SUSPENDED`: The workspace is suspended.
     */
    403: ErrorResponse;
    /**
     * `NOT_FOUND`: Resource not found.
     */
    404: ErrorResponse;
    /**
     * `IDEMPOTENCY_MISMATCH`: The idempotency key was already used with a different request. `IDEMPOTENCY_IN_PROGRESS`: A request with this idempotency key is still running.
     */
    409: ErrorResponse;
    /**
     * `VALIDATION_ERROR`: The request body is larger than 256 KB.
     */
    413: ErrorResponse;
    /**
     * `VALIDATION_ERROR`: The request body must be application/json in UTF-8, without a content encoding.
     */
    415: ErrorResponse;
    /**
     * `RATE_LIMITED`: Too many requests.
     */
    429: ErrorResponse;
    /**
     * `INTERNAL_ERROR`: Something went wrong on our side.
     */
    500: ErrorResponse;
};

export type DeactivatePaymentLinkError = DeactivatePaymentLinkErrors[keyof DeactivatePaymentLinkErrors];

export type DeactivatePaymentLinkResponses = {
    /**
     * The inactive payment link.
     */
    200: PaymentLinkResponse;
};

export type DeactivatePaymentLinkResponse = DeactivatePaymentLinkResponses[keyof DeactivatePaymentLinkResponses];

export type ListProductsData = {
    body?: never;
    path?: never;
    query?: {
        /**
         * Most records of a page.
         */
        limit?: number;
        /**
         * `meta.next_cursor` of the page before; opaque.
         */
        cursor?: string;
    };
    url: '/products';
};

export type ListProductsErrors = {
    /**
     * `VALIDATION_ERROR`: The request is invalid.
     */
    400: ErrorResponse;
    /**
     * `UNAUTHENTICATED`: The API key is missing or invalid.
     */
    401: ErrorResponse;
    /**
     * `FORBIDDEN_SCOPE`: The API key lacks the required scope. `WORKSPACE_SUSPENDED`: The workspace is suspended.
     */
    403: ErrorResponse;
    /**
     * `RATE_LIMITED`: Too many requests.
     */
    429: ErrorResponse;
    /**
     * `INTERNAL_ERROR`: Something went wrong on our side.
     */
    500: ErrorResponse;
};

export type ListProductsError = ListProductsErrors[keyof ListProductsErrors];

export type ListProductsResponses = {
    /**
     * A page of products.
     */
    200: ProductListResponse;
};

export type ListProductsResponse = ListProductsResponses[keyof ListProductsResponses];

export type CreateProductData = {
    body: ProductCreate;
    headers?: {
        /**
         * Makes it safe to repeat the request: for 24 hours a repetition returns the first response.
         */
        'Idempotency-Key'?: string;
    };
    path?: never;
    query?: never;
    url: '/products';
};

export type CreateProductErrors = {
    /**
     * `VALIDATION_ERROR`: The request is invalid.
     */
    400: ErrorResponse;
    /**
     * `UNAUTHENTICATED`: The API key is missing or invalid.
     */
    401: ErrorResponse;
    /**
     * `FORBIDDEN_SCOPE`: The API key lacks the required scope. `WORKSPACE_SUSPENDED`: The workspace is suspended. `WORKSPACE_RESTRICTED`: The workspace is restricted and cannot create this resource.
     */
    403: ErrorResponse;
    /**
     * `IDEMPOTENCY_MISMATCH`: The idempotency key was already used with a different request. `IDEMPOTENCY_IN_PROGRESS`: A request with this idempotency key is still running.
     */
    409: ErrorResponse;
    /**
     * `VALIDATION_ERROR`: The request body is larger than 256 KB.
     */
    413: ErrorResponse;
    /**
     * `VALIDATION_ERROR`: The request body must be application/json in UTF-8, without a content encoding.
     */
    415: ErrorResponse;
    /**
     * `RATE_LIMITED`: Too many requests.
     */
    429: ErrorResponse;
    /**
     * `INTERNAL_ERROR`: Something went wrong on our side.
     */
    500: ErrorResponse;
};

export type CreateProductError = CreateProductErrors[keyof CreateProductErrors];

export type CreateProductResponses = {
    /**
     * The new product.
     */
    201: ProductResponse;
};

export type CreateProductResponse = CreateProductResponses[keyof CreateProductResponses];

export type GetProductData = {
    body?: never;
    path: {
        /**
         * Id of the resource.
         */
        id: string;
    };
    query?: never;
    url: '/products/{id}';
};

export type GetProductErrors = {
    /**
     * `VALIDATION_ERROR`: The request is invalid.
     */
    400: ErrorResponse;
    /**
     * `UNAUTHENTICATED`: The API key is missing or invalid.
     */
    401: ErrorResponse;
    /**
     * `FORBIDDEN_SCOPE`: The API key lacks the required scope. `WORKSPACE_SUSPENDED`: The workspace is suspended.
     */
    403: ErrorResponse;
    /**
     * `NOT_FOUND`: Resource not found.
     */
    404: ErrorResponse;
    /**
     * `RATE_LIMITED`: Too many requests.
     */
    429: ErrorResponse;
    /**
     * `INTERNAL_ERROR`: Something went wrong on our side.
     */
    500: ErrorResponse;
};

export type GetProductError = GetProductErrors[keyof GetProductErrors];

export type GetProductResponses = {
    /**
     * The product.
     */
    200: ProductResponse;
};

export type GetProductResponse = GetProductResponses[keyof GetProductResponses];

export type ListPaymentsData = {
    body?: never;
    path?: never;
    query?: {
        /**
         * Most records of a page.
         */
        limit?: number;
        /**
         * `meta.next_cursor` of the page before; opaque.
         */
        cursor?: string;
        /**
         * Only payments of this invoice.
         */
        invoice_id?: string;
    };
    url: '/payments';
};

export type ListPaymentsErrors = {
    /**
     * `VALIDATION_ERROR`: The request is invalid.
     */
    400: ErrorResponse;
    /**
     * `UNAUTHENTICATED`: The API key is missing or invalid.
     */
    401: ErrorResponse;
    /**
     * `FORBIDDEN_SCOPE`: The API key lacks the required scope. `WORKSPACE_SUSPENDED`: The workspace is suspended.
     */
    403: ErrorResponse;
    /**
     * `RATE_LIMITED`: Too many requests.
     */
    429: ErrorResponse;
    /**
     * `INTERNAL_ERROR`: Something went wrong on our side.
     */
    500: ErrorResponse;
};

export type ListPaymentsError = ListPaymentsErrors[keyof ListPaymentsErrors];

export type ListPaymentsResponses = {
    /**
     * A page of payments.
     */
    200: PaymentListResponse;
};

export type ListPaymentsResponse = ListPaymentsResponses[keyof ListPaymentsResponses];

export type ListCurrenciesData = {
    body?: never;
    path?: never;
    query?: never;
    url: '/currencies';
};

export type ListCurrenciesErrors = {
    /**
     * `VALIDATION_ERROR`: The request is invalid.
     */
    400: ErrorResponse;
    /**
     * `UNAUTHENTICATED`: The API key is missing or invalid.
     */
    401: ErrorResponse;
    /**
     * `FORBIDDEN_SCOPE`: The API key lacks the required scope. `WORKSPACE_SUSPENDED`: The workspace is suspended.
     */
    403: ErrorResponse;
    /**
     * `RATE_LIMITED`: Too many requests.
     */
    429: ErrorResponse;
    /**
     * `INTERNAL_ERROR`: Something went wrong on our side.
     */
    500: ErrorResponse;
};

export type ListCurrenciesError = ListCurrenciesErrors[keyof ListCurrenciesErrors];

export type ListCurrenciesResponses = {
    /**
     * Every supported asset.
     */
    200: CurrencyListResponse;
};

export type ListCurrenciesResponse = ListCurrenciesResponses[keyof ListCurrenciesResponses];

export type ListRatesData = {
    body?: never;
    path?: never;
    query?: {
        /**
         * Currency of the prices.
         */
        fiat?: 'USD' | 'EUR' | 'DOP' | 'MXN' | 'COP' | 'BRL' | 'GBP' | 'ARS' | 'CLP' | 'PEN';
        /**
         * Only this asset.
         */
        asset?: 'btc_bitcoin' | 'ltc_litecoin' | 'doge_dogecoin' | 'eth_ethereum' | 'usdt_ethereum' | 'usdc_ethereum' | 'bnb_bsc' | 'usdt_bsc' | 'usdc_bsc' | 'pol_polygon' | 'usdt_polygon' | 'usdc_polygon' | 'eth_base' | 'usdc_base' | 'eth_arbitrum' | 'usdt_arbitrum' | 'usdc_arbitrum' | 'trx_tron' | 'usdt_tron' | 'sol_solana' | 'usdc_solana' | 'usdt_solana';
    };
    url: '/rates';
};

export type ListRatesErrors = {
    /**
     * `VALIDATION_ERROR`: The request is invalid.
     */
    400: ErrorResponse;
    /**
     * `UNAUTHENTICATED`: The API key is missing or invalid.
     */
    401: ErrorResponse;
    /**
     * `FORBIDDEN_SCOPE`: The API key lacks the required scope. `WORKSPACE_SUSPENDED`: The workspace is suspended.
     */
    403: ErrorResponse;
    /**
     * `RATE_LIMITED`: Too many requests.
     */
    429: ErrorResponse;
    /**
     * `INTERNAL_ERROR`: Something went wrong on our side.
     */
    500: ErrorResponse;
    /**
     * `RATES_UNAVAILABLE`: No current rate is available right now.
     */
    503: ErrorResponse;
};

export type ListRatesError = ListRatesErrors[keyof ListRatesErrors];

export type ListRatesResponses = {
    /**
     * Fresh rates.
     */
    200: RateListResponse;
};

export type ListRatesResponse = ListRatesResponses[keyof ListRatesResponses];

export type CreateEstimateData = {
    body: EstimateRequest;
    headers?: {
        /**
         * Makes it safe to repeat the request: for 24 hours a repetition returns the first response.
         */
        'Idempotency-Key'?: string;
    };
    path?: never;
    query?: never;
    url: '/estimate';
};

export type CreateEstimateErrors = {
    /**
     * `VALIDATION_ERROR`: The request is invalid.
     */
    400: ErrorResponse;
    /**
     * `UNAUTHENTICATED`: The API key is missing or invalid.
     */
    401: ErrorResponse;
    /**
     * `FORBIDDEN_SCOPE`: The API key lacks the required scope. `WORKSPACE_SUSPENDED`: The workspace is suspended.
     */
    403: ErrorResponse;
    /**
     * `IDEMPOTENCY_MISMATCH`: The idempotency key was already used with a different request. `IDEMPOTENCY_IN_PROGRESS`: A request with this idempotency key is still running.
     */
    409: ErrorResponse;
    /**
     * `VALIDATION_ERROR`: The request body is larger than 256 KB.
     */
    413: ErrorResponse;
    /**
     * `VALIDATION_ERROR`: The request body must be application/json in UTF-8, without a content encoding.
     */
    415: ErrorResponse;
    /**
     * `RATE_LIMITED`: Too many requests.
     */
    429: ErrorResponse;
    /**
     * `INTERNAL_ERROR`: Something went wrong on our side.
     */
    500: ErrorResponse;
    /**
     * `RATES_UNAVAILABLE`: No current rate is available right now.
     */
    503: ErrorResponse;
};

export type CreateEstimateError = CreateEstimateErrors[keyof CreateEstimateErrors];

export type CreateEstimateResponses = {
    /**
     * The estimate.
     */
    200: EstimateResponse;
};

export type CreateEstimateResponse = CreateEstimateResponses[keyof CreateEstimateResponses];

export type ListWebhookEndpointsData = {
    body?: never;
    path?: never;
    query?: never;
    url: '/webhook-endpoints';
};

export type ListWebhookEndpointsErrors = {
    /**
     * `VALIDATION_ERROR`: The request is invalid.
     */
    400: ErrorResponse;
    /**
     * `UNAUTHENTICATED`: The API key is missing or invalid.
     */
    401: ErrorResponse;
    /**
     * `FORBIDDEN_SCOPE`: The API key lacks the required scope. `WORKSPACE_SUSPENDED`: The workspace is suspended.
     */
    403: ErrorResponse;
    /**
     * `RATE_LIMITED`: Too many requests.
     */
    429: ErrorResponse;
    /**
     * `INTERNAL_ERROR`: Something went wrong on our side.
     */
    500: ErrorResponse;
};

export type ListWebhookEndpointsError = ListWebhookEndpointsErrors[keyof ListWebhookEndpointsErrors];

export type ListWebhookEndpointsResponses = {
    /**
     * Every endpoint, on one page.
     */
    200: WebhookEndpointListResponse;
};

export type ListWebhookEndpointsResponse = ListWebhookEndpointsResponses[keyof ListWebhookEndpointsResponses];

export type CreateWebhookEndpointData = {
    body: WebhookEndpointCreate;
    headers?: {
        /**
         * Makes it safe to repeat the request: for 24 hours a repetition returns the first response.
         */
        'Idempotency-Key'?: string;
    };
    path?: never;
    query?: never;
    url: '/webhook-endpoints';
};

export type CreateWebhookEndpointErrors = {
    /**
     * `VALIDATION_ERROR`: The request is invalid.
     */
    400: ErrorResponse;
    /**
     * `UNAUTHENTICATED`: The API key is missing or invalid.
     */
    401: ErrorResponse;
    /**
     * `FORBIDDEN_SCOPE`: The API key lacks the required scope. `WORKSPACE_SUSPENDED`: The workspace is suspended. `PLAN_LIMIT_REACHED`: The plan limit has been reached.
     */
    403: ErrorResponse;
    /**
     * `INVALID_STATE`: The state of the resource does not allow this. `IDEMPOTENCY_MISMATCH`: The idempotency key was already used with a different request. `IDEMPOTENCY_IN_PROGRESS`: A request with this idempotency key is still running.
     */
    409: ErrorResponse;
    /**
     * `VALIDATION_ERROR`: The request body is larger than 256 KB.
     */
    413: ErrorResponse;
    /**
     * `VALIDATION_ERROR`: The request body must be application/json in UTF-8, without a content encoding.
     */
    415: ErrorResponse;
    /**
     * `RATE_LIMITED`: Too many requests.
     */
    429: ErrorResponse;
    /**
     * `INTERNAL_ERROR`: Something went wrong on our side.
     */
    500: ErrorResponse;
};

export type CreateWebhookEndpointError = CreateWebhookEndpointErrors[keyof CreateWebhookEndpointErrors];

export type CreateWebhookEndpointResponses = {
    /**
     * The new endpoint with its signing secret.
     */
    201: WebhookEndpointCreatedResponse;
};

export type CreateWebhookEndpointResponse = CreateWebhookEndpointResponses[keyof CreateWebhookEndpointResponses];

export type DeleteWebhookEndpointData = {
    body?: never;
    path: {
        /**
         * Id of the resource.
         */
        id: string;
    };
    query?: never;
    url: '/webhook-endpoints/{id}';
};

export type DeleteWebhookEndpointErrors = {
    /**
     * `VALIDATION_ERROR`: The request is invalid.
     */
    400: ErrorResponse;
    /**
     * `UNAUTHENTICATED`: The API key is missing or invalid.
     */
    401: ErrorResponse;
    /**
     * `FORBIDDEN_SCOPE`: The API key lacks the required scope. `WORKSPACE_SUSPENDED`: The workspace is suspended.
     */
    403: ErrorResponse;
    /**
     * `NOT_FOUND`: Resource not found.
     */
    404: ErrorResponse;
    /**
     * `RATE_LIMITED`: Too many requests.
     */
    429: ErrorResponse;
    /**
     * `INTERNAL_ERROR`: Something went wrong on our side.
     */
    500: ErrorResponse;
};

export type DeleteWebhookEndpointError = DeleteWebhookEndpointErrors[keyof DeleteWebhookEndpointErrors];

export type DeleteWebhookEndpointResponses = {
    /**
     * The deleted endpoint.
     */
    200: DeletedResponse;
};

export type DeleteWebhookEndpointResponse = DeleteWebhookEndpointResponses[keyof DeleteWebhookEndpointResponses];

/**
 * The event.
 */
export type ReceiveEventWebhookPayload = Event;

export type ReceiveEventWebhookRequest = {
    body: ReceiveEventWebhookPayload;
    key: 'event';
    path?: never;
    query?: never;
};
