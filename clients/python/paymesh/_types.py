"""Generated from docs/openapi.json by `npm run gen:client`. Do not edit."""

from __future__ import annotations

from typing import Dict, List, Optional, TypedDict

try:
    from typing import NotRequired
except ImportError:  # Python 3.9 and 3.10 have no such mark; it is for type checkers alone.
    NotRequired = Optional  # type: ignore[assignment,misc]


class InvoiceCreate(TypedDict):
    """Parameters of an invoice."""

    #: Price. Greater than zero, with at most the decimals of the currency (none for CLP, two for the others); zeros behind them do not count.
    amount: str
    #: ISO 4217 code.
    currency: str
    #: Text for the payer.
    description: NotRequired[Optional[str]]
    #: Your own reference. It need not be unique.
    order_id: NotRequired[Optional[str]]
    #: Locks this asset at creation: the response already carries address and exact amount.
    asset: NotRequired[Optional[str]]
    #: The merchant's own strings; a key whose value is null is left out.
    metadata: NotRequired[Optional[Dict[str, str]]]
    customer: NotRequired[Optional[InvoiceCreateCustomer]]
    #: Where the checkout links to after payment. An https URL without credentials, as browsers write it; with a test key also http on this machine: `localhost`, `*.localhost`, `*.test` or a loopback address.
    success_url: NotRequired[Optional[str]]
    #: Where the checkout links to when the payer cancels. An https URL without credentials, as browsers write it; with a test key also http on this machine: `localhost`, `*.localhost`, `*.test` or a loopback address.
    cancel_url: NotRequired[Optional[str]]
    #: Seconds until the invoice expires. Without it, a setting of the workspace decides: one for invoices with `asset`, one for those without. **Price risk:** together with `asset` it locks the price for this whole time. Above 86400 (24 hours) a coin can lose much of its value before it is paid, and the loss is yours; leave `asset` out, so that the payer gets a price that lasts for minutes and is renewed.
    expires_in: NotRequired[Optional[int]]


class InvoiceCreateCustomer(TypedDict):
    """The payer, if known."""

    #: Email address of the payer, as browsers accept it.
    email: NotRequired[Optional[str]]
    #: Name of the payer.
    name: NotRequired[Optional[str]]


class SimulateRequest(TypedDict):
    """A scenario for a test invoice."""

    #: Scenario to simulate.
    scenario: str


class PaymentLinkCreate(TypedDict):
    """Parameters of a payment link: a copy of a product, or its own terms."""

    #: Copies title, price and currency of this product; leave those out then.
    product_id: NotRequired[Optional[str]]
    #: Shown to payers. Required without `product_id`.
    title: NotRequired[Optional[str]]
    #: Further description.
    description: NotRequired[Optional[str]]
    #: ISO 4217 code. Required without `product_id`.
    currency: NotRequired[Optional[str]]
    #: Fixed amount. Without `product_id`, either this or `allow_custom_amount`, never both. Greater than zero, with at most the decimals of the currency (none for CLP, two for the others); zeros behind them do not count.
    amount: NotRequired[Optional[str]]
    #: Lets the payer choose the amount.
    allow_custom_amount: NotRequired[Optional[bool]]
    #: Minimum that a payer can choose, at most `max_amount`; only with `allow_custom_amount`. Greater than zero, with at most the decimals of the currency (none for CLP, two for the others); zeros behind them do not count.
    min_amount: NotRequired[Optional[str]]
    #: Maximum that a payer can choose; only with `allow_custom_amount`. Greater than zero, with at most the decimals of the currency (none for CLP, two for the others); zeros behind them do not count.
    max_amount: NotRequired[Optional[str]]


class ProductCreate(TypedDict):
    """Parameters of a product."""

    #: Shown to payers.
    name: str
    #: Price. Greater than zero, with at most the decimals of the currency (none for CLP, two for the others); zeros behind them do not count.
    price: str
    #: ISO 4217 code.
    currency: str
    #: Further description.
    description: NotRequired[Optional[str]]
    #: Your own code, compared exactly as written; unique in the workspace and mode.
    sku: NotRequired[Optional[str]]


class EstimateRequest(TypedDict):
    """What to convert."""

    #: Fiat price. Greater than zero, with at most the decimals of the currency (none for CLP, two for the others); zeros behind them do not count.
    amount: str
    #: ISO 4217 code.
    currency: str
    #: Asset to convert to.
    asset: str


class WebhookEndpointCreate(TypedDict):
    """Parameters of a webhook endpoint."""

    #: Public https URL without credentials, as browsers write it, port 443 or from 1024 on. A development server accepts `http://localhost:<port>` from test keys.
    url: str
    #: Event types, or `*` for all.
    events: List[str]
    #: Events it receives: by default those of the mode of the key; `both` requires a live key.
    mode: NotRequired[Optional[str]]
    #: A note for you.
    description: NotRequired[Optional[str]]


class Event(TypedDict):
    """The body of a webhook delivery."""

    #: The same for every delivery of this event: use it to deduplicate.
    id: str
    object: str
    #: What happened.
    type: str
    #: API version of the event.
    api_version: str
    #: False for test events.
    livemode: bool
    #: When it happened.
    created_at: str
    #: Data of the event.
    data: EventData


class EventData(TypedDict):
    """Data of the event."""

    #: The invoice at the time of the event.
    object: Invoice
    #: The payment; on `payment.*` events only.
    payment: NotRequired[Payment]


class Money(TypedDict):
    """A fiat amount."""

    #: Decimal amount, with exactly the decimals of the currency (none for CLP, two for the others).
    value: str
    #: ISO 4217 code.
    currency: str
    #: The same amount in minor units: cents for USD.
    minor: int


class InvoiceCrypto(TypedDict):
    """What to pay on-chain."""

    #: Asset id: `<symbol>_<network>`.
    asset: str
    #: Network of the asset.
    network: str
    #: Ticker of the asset, in capitals.
    symbol: str
    #: Exact amount to pay, in units of the asset: the whole price, or what was paid so far plus the rest at the current rate. After a part payment ask for the amount in `uri`: the rest, rounded up to what a payer can type and the chain carries.
    amount: str
    #: The same amount in base units: satoshi, wei, lamports.
    amount_base_units: str
    #: Decimals between base units and `amount`: 8 for BTC.
    decimals: int
    #: Address to pay to. It belongs to this invoice.
    address: str
    #: For wallets and QR codes: a payment link for what is left to pay now. On TRON, where wallets agree on no link, the plain address. Empty while nothing is asked for: confirming, paid, overpaid, expired, cancelled, or only a new price on the checkout can name an amount.
    uri: str
    #: Confirmations that a payment needs; fixed when the asset was locked.
    required_confirmations: int


class InvoiceRate(TypedDict):
    """The rate used to compute the crypto amount."""

    #: Price of one unit of the asset in the invoice currency, in full precision.
    fiat_per_asset: str
    #: When the rate was fixed.
    locked_at: str
    #: When the locked rate and exact amount expire. After that the payer gets a new price for what is left.
    expires_at: str


class InvoiceReceived(TypedDict):
    """Amounts received so far."""

    #: Sum of counted payments, confirmed or not, in units of the locked asset.
    amount: str
    #: The same sum in base units.
    amount_base_units: str
    #: The confirmed part of it in base units.
    confirmed_base_units: str


class InvoiceFlags(TypedDict):
    """Circumstances in addition to the status."""

    #: A payment arrived after the invoice expired.
    paid_late: bool
    #: Less than the full amount counts as paid: the merchant accepted it, or nobody can send so small a rest.
    underpaid_accepted: bool


class InvoiceCustomer(TypedDict):
    """The payer, if given."""

    #: Email address given at creation.
    email: Optional[str]
    #: Name given at creation.
    name: Optional[str]


class InvoiceUrls(TypedDict):
    """Pages around the invoice."""

    #: Hosted checkout page: send the payer there.
    checkout: str
    #: Receipt page.
    receipt: str
    #: Where the checkout links to after payment.
    success: Optional[str]
    #: Where the checkout links to when the payer cancels.
    cancel: Optional[str]


class Invoice(TypedDict):
    """A fiat price, paid on-chain in a crypto asset."""

    #: Unique.
    id: str
    object: str
    #: Counts up per workspace and mode; gaps are possible.
    number: int
    #: State of the invoice.
    status: str
    #: False for test invoices.
    livemode: bool
    #: Text for the payer.
    description: Optional[str]
    #: The merchant's own reference.
    order_id: Optional[str]
    metadata: Dict[str, str]
    #: Price in fiat.
    amount: Money
    #: What to pay on-chain; null until an asset is locked.
    crypto: Optional[InvoiceCrypto]
    #: Locked rate; null until an asset is locked.
    rate: Optional[InvoiceRate]
    received: InvoiceReceived
    flags: InvoiceFlags
    customer: InvoiceCustomer
    urls: InvoiceUrls
    #: The payment link that created it.
    payment_link_id: Optional[str]
    #: The product of that payment link.
    product_id: Optional[str]
    #: Source: `api` for invoices created with a key.
    source: str
    #: When it was created.
    created_at: str
    #: The invoice expires if the full amount has not arrived by then.
    expires_at: str
    #: When the full amount was confirmed.
    paid_at: Optional[str]
    #: When it last changed.
    updated_at: str


class Payment(TypedDict):
    """An on-chain transfer attributed to an invoice."""

    #: Unique.
    id: str
    object: str
    #: False for payments of test invoices.
    livemode: bool
    #: The invoice it was attributed to.
    invoice_id: str
    #: Asset id: `<symbol>_<network>`.
    asset: str
    #: Network of the asset.
    network: str
    #: Ticker of the asset, in capitals.
    symbol: str
    #: Amount in units of the asset.
    amount: str
    #: Amount in base units.
    amount_base_units: str
    #: Decimals between base units and `amount`: 8 for BTC.
    decimals: int
    #: `detected` and `confirmed` payments exist on the chain; `replaced`, `dropped` and `orphaned` ones no longer do.
    status: str
    #: Transaction; null for simulated payments, and for coins from a contract call that only the balance of the address shows.
    tx_hash: Optional[str]
    #: Output, log or instruction inside the transaction.
    output_index: Optional[int]
    #: Sender, if the chain has one.
    from_address: Optional[str]
    #: The invoice address that received it.
    to_address: str
    #: Block or slot; null until it is in one.
    block_number: Optional[int]
    #: Hash of that block.
    block_hash: Optional[str]
    #: Confirmations so far, including its own block.
    confirmations: int
    #: Confirmations required.
    required_confirmations: int
    #: Whether it counts towards the invoice.
    counted: bool
    #: Why it does not count: `wrong_asset`, `out_of_quote`, `dust` (too small to change anything) and others.
    uncounted_reason: Optional[str]
    #: It arrived after the invoice expired.
    late: bool
    #: It was created with the simulate operation.
    simulated: bool
    #: The transaction in a public block explorer.
    explorer_url: Optional[str]
    #: When it was first seen.
    detected_at: str
    #: When it reached the required confirmations.
    confirmed_at: Optional[str]
    #: When it was first recorded.
    created_at: str
    #: When it last changed.
    updated_at: str


class Error(TypedDict):
    """The error."""

    #: Machine-readable error code.
    code: str
    #: Human-readable message. The text may change.
    message: str
    #: Offending fields of a `VALIDATION_ERROR`.
    details: NotRequired[List[ErrorDetail]]


class ErrorDetail(TypedDict):
    """One offending field."""

    #: Dotted path of the offending field: `customer.email`, `events.2`.
    path: str
    #: What is wrong.
    message: str


class ListMeta(TypedDict):
    """Position in the list."""

    #: Pass it as `cursor` for the next page; null on the last one.
    next_cursor: Optional[str]
    #: Whether there is a next page.
    has_more: bool


class PaymentLink(TypedDict):
    """A page that creates an invoice for each payer."""

    #: Unique.
    id: str
    object: str
    #: False for test links.
    livemode: bool
    #: An inactive link accepts no new payments.
    status: str
    #: Shown to payers.
    title: str
    #: Further description, shown to payers.
    description: Optional[str]
    #: ISO 4217 code.
    currency: str
    #: Fixed amount; null when the payer chooses it.
    amount: Optional[str]
    #: Whether the payer chooses the amount.
    allow_custom_amount: bool
    #: Minimum that a payer can choose.
    min_amount: Optional[str]
    #: Maximum that a payer can choose.
    max_amount: Optional[str]
    #: The product whose title, price and currency were copied.
    product_id: Optional[str]
    #: The page for payers.
    url: str
    #: Invoices created from it.
    uses: int
    #: When it stopped accepting new payments.
    deactivated_at: Optional[str]
    #: When it was created.
    created_at: str
    #: When it last changed.
    updated_at: str


class Product(TypedDict):
    """Something that payment links sell."""

    #: Unique.
    id: str
    object: str
    #: False for test products.
    livemode: bool
    #: Shown to payers.
    name: str
    #: Further description.
    description: Optional[str]
    #: Price, with exactly the decimals of the currency.
    price: str
    #: ISO 4217 code.
    currency: str
    #: Your own code; unique in the workspace and mode.
    sku: Optional[str]
    #: You cannot create payment links for an inactive product.
    active: bool
    #: When it was created.
    created_at: str
    #: When it last changed.
    updated_at: str


class Currency(TypedDict):
    """A supported crypto asset."""

    #: Asset id: `<symbol>_<network>`.
    id: str
    object: str
    #: The mode of the key: availability may differ between the two.
    livemode: bool
    #: Ticker of the asset, in capitals.
    symbol: str
    #: Network of the asset.
    network: str
    #: Display name.
    name: str
    #: Decimals between base units and `amount`: 8 for BTC.
    decimals: int
    #: Token contract or mint; null for the coin of the network.
    contract_address: Optional[str]
    #: Minimum amount of an invoice, in units of the asset.
    min_amount: str
    #: Confirmations required for an ordinary invoice; `crypto.required_confirmations` of an invoice is the number required for its value.
    confirmations: int
    #: Whether this workspace can receive it now.
    available: bool
    #: Reason; null exactly when `available` is true.
    unavailable_reason: Optional[str]
    #: A node is behind the network, so that real transfers are seen.
    watched: bool
    #: When the workspace was created.
    created_at: str
    #: When availability was checked: now.
    updated_at: str


class Rate(TypedDict):
    """Current price of one unit of an asset, including the workspace's spread."""

    object: str
    #: The mode of the key.
    livemode: bool
    #: Asset id: `<symbol>_<network>`.
    asset: str
    #: Ticker of the asset, in capitals.
    symbol: str
    #: Network of the asset.
    network: str
    #: Currency of the price.
    fiat: str
    #: Price of one unit of the asset, in full precision.
    fiat_per_asset: str
    #: Number of independent sources of the price.
    sources: int
    #: Time of the oldest price in it: a rate never changes, the next one takes its place.
    created_at: str
    #: Time of the oldest price in it.
    updated_at: str
    #: The rate is not used after this time.
    expires_at: str


class Estimate(TypedDict):
    """The amount that a lock at this moment would require."""

    object: str
    #: The mode of the key.
    livemode: bool
    #: Asset id: `<symbol>_<network>`.
    asset: str
    #: Network of the asset.
    network: str
    #: Ticker of the asset, in capitals.
    symbol: str
    #: The price to convert.
    fiat: Money
    #: The price in units of the asset, rounded up like an invoice.
    amount: str
    #: The same amount in base units.
    amount_base_units: str
    #: Decimals between base units and `amount`: 8 for BTC.
    decimals: int
    #: Price of one unit of the asset, in full precision.
    fiat_per_asset: str
    #: Invoices below this amount, in units of the asset, are refused; estimates are not.
    min_amount: str
    #: Time of the oldest price in the rate.
    rate_updated_at: str
    #: When it was created.
    created_at: str
    #: The same: an estimate never changes.
    updated_at: str


class WebhookEndpoint(TypedDict):
    """Your URL that receives signed events."""

    #: Unique.
    id: str
    object: str
    #: False when it only receives test events.
    livemode: bool
    #: Where events are sent.
    url: str
    #: Event types it receives, or `*` for all.
    events: List[str]
    #: Which events it receives.
    mode: str
    #: Your own note.
    description: Optional[str]
    #: A disabled endpoint receives nothing.
    status: str
    #: When it was created.
    created_at: str
    #: When it last changed.
    updated_at: str


class WebhookEndpointCreated(TypedDict):
    """A new webhook endpoint with its signing secret."""

    #: Unique.
    id: str
    object: str
    #: False when it only receives test events.
    livemode: bool
    #: Where events are sent.
    url: str
    #: Event types it receives, or `*` for all.
    events: List[str]
    #: Which events it receives.
    mode: str
    #: Your own note.
    description: Optional[str]
    #: A disabled endpoint receives nothing.
    status: str
    #: When it was created.
    created_at: str
    #: When it last changed.
    updated_at: str
    #: Signing secret. It is shown only once.
    secret: str
    #: What is probably a mistake, such as another endpoint with the same URL, which then gets every event twice; null otherwise.
    warning: Optional[str]


class Deleted(TypedDict):
    """The deleted endpoint."""

    #: ID of the deleted endpoint.
    id: str
    #: The deleted endpoint.
    object: str
    deleted: bool
