// Code generated from docs/openapi.json by `npm run gen:client`. DO NOT EDIT.

package paymesh

// InvoiceCreate: Parameters of an invoice.
type InvoiceCreate struct {
	// Price. Greater than zero, with at most the decimals of the currency (none for CLP, two for the others); zeros behind them do not count.
	Amount string `json:"amount"`

	// ISO 4217 code.
	Currency string `json:"currency"`

	// Text for the payer.
	Description *string `json:"description,omitempty"`

	// Your own reference. It need not be unique.
	OrderID *string `json:"order_id,omitempty"`

	// Locks this asset at creation: the response already carries address and exact amount.
	Asset *string `json:"asset,omitempty"`

	// The merchant's own strings; a key whose value is null is left out.
	Metadata map[string]string `json:"metadata,omitempty"`

	Customer *InvoiceCreateCustomer `json:"customer,omitempty"`

	// Where the checkout links to after payment. An https URL without credentials, as browsers write it; with a test key also http on this machine: `localhost`, `*.localhost`, `*.test` or a loopback address.
	SuccessURL *string `json:"success_url,omitempty"`

	// Where the checkout links to when the payer cancels. An https URL without credentials, as browsers write it; with a test key also http on this machine: `localhost`, `*.localhost`, `*.test` or a loopback address.
	CancelURL *string `json:"cancel_url,omitempty"`

	// Seconds until the invoice expires. Without it, a setting of the workspace decides: one for invoices with `asset`, one for those without. **Price risk:** together with `asset` it locks the price for this whole time. Above 86400 (24 hours) a coin can lose much of its value before it is paid, and the loss is yours; leave `asset` out, so that the payer gets a price that lasts for minutes and is renewed.
	ExpiresIn *int64 `json:"expires_in,omitempty"`
}

// InvoiceCreateCustomer: The payer, if known.
type InvoiceCreateCustomer struct {
	// Email address of the payer, as browsers accept it.
	Email *string `json:"email,omitempty"`

	// Name of the payer.
	Name *string `json:"name,omitempty"`
}

// SimulateRequest: A scenario for a test invoice.
type SimulateRequest struct {
	// Scenario to simulate.
	Scenario string `json:"scenario"`
}

// PaymentLinkCreate: Parameters of a payment link: a copy of a product, or its own terms.
type PaymentLinkCreate struct {
	// Copies title, price and currency of this product; leave those out then.
	ProductID *string `json:"product_id,omitempty"`

	// Shown to payers. Required without `product_id`.
	Title *string `json:"title,omitempty"`

	// Further description.
	Description *string `json:"description,omitempty"`

	// ISO 4217 code. Required without `product_id`.
	Currency *string `json:"currency,omitempty"`

	// Fixed amount. Without `product_id`, either this or `allow_custom_amount`, never both. Greater than zero, with at most the decimals of the currency (none for CLP, two for the others); zeros behind them do not count.
	Amount *string `json:"amount,omitempty"`

	// Lets the payer choose the amount.
	AllowCustomAmount *bool `json:"allow_custom_amount,omitempty"`

	// Minimum that a payer can choose, at most `max_amount`; only with `allow_custom_amount`. Greater than zero, with at most the decimals of the currency (none for CLP, two for the others); zeros behind them do not count.
	MinAmount *string `json:"min_amount,omitempty"`

	// Maximum that a payer can choose; only with `allow_custom_amount`. Greater than zero, with at most the decimals of the currency (none for CLP, two for the others); zeros behind them do not count.
	MaxAmount *string `json:"max_amount,omitempty"`
}

// ProductCreate: Parameters of a product.
type ProductCreate struct {
	// Shown to payers.
	Name string `json:"name"`

	// Price. Greater than zero, with at most the decimals of the currency (none for CLP, two for the others); zeros behind them do not count.
	Price string `json:"price"`

	// ISO 4217 code.
	Currency string `json:"currency"`

	// Further description.
	Description *string `json:"description,omitempty"`

	// Your own code, compared exactly as written; unique in the workspace and mode.
	Sku *string `json:"sku,omitempty"`
}

// EstimateRequest: What to convert.
type EstimateRequest struct {
	// Fiat price. Greater than zero, with at most the decimals of the currency (none for CLP, two for the others); zeros behind them do not count.
	Amount string `json:"amount"`

	// ISO 4217 code.
	Currency string `json:"currency"`

	// Asset to convert to.
	Asset string `json:"asset"`
}

// WebhookEndpointCreate: Parameters of a webhook endpoint.
type WebhookEndpointCreate struct {
	// Public https URL without credentials, as browsers write it, port 443 or from 1024 on. A development server accepts `http://localhost:<port>` from test keys.
	URL string `json:"url"`

	// Event types, or `*` for all.
	Events []string `json:"events"`

	// Events it receives: by default those of the mode of the key; `both` requires a live key.
	Mode *string `json:"mode,omitempty"`

	// A note for you.
	Description *string `json:"description,omitempty"`
}

// Event: The body of a webhook delivery.
type Event struct {
	// The same for every delivery of this event: use it to deduplicate.
	ID string `json:"id"`

	Object string `json:"object"`

	// What happened.
	Type string `json:"type"`

	// API version of the event.
	ApiVersion string `json:"api_version"`

	// False for test events.
	Livemode bool `json:"livemode"`

	// When it happened.
	CreatedAt string `json:"created_at"`

	// Data of the event.
	Data EventData `json:"data"`
}

// EventData: Data of the event.
type EventData struct {
	// The invoice at the time of the event.
	Object Invoice `json:"object"`

	// The payment; on `payment.*` events only.
	Payment *Payment `json:"payment,omitempty"`
}

// Money: A fiat amount.
type Money struct {
	// Decimal amount, with exactly the decimals of the currency (none for CLP, two for the others).
	Value string `json:"value"`

	// ISO 4217 code.
	Currency string `json:"currency"`

	// The same amount in minor units: cents for USD.
	Minor int64 `json:"minor"`
}

// InvoiceCrypto: What to pay on-chain.
type InvoiceCrypto struct {
	// Asset id: `<symbol>_<network>`.
	Asset string `json:"asset"`

	// Network of the asset.
	Network string `json:"network"`

	// Ticker of the asset, in capitals.
	Symbol string `json:"symbol"`

	// Exact amount to pay, in units of the asset: the whole price, or what was paid so far plus the rest at the current rate. After a part payment ask for the amount in `uri`: the rest, rounded up to what a payer can type and the chain carries.
	Amount string `json:"amount"`

	// The same amount in base units: satoshi, wei, lamports.
	AmountBaseUnits string `json:"amount_base_units"`

	// Decimals between base units and `amount`: 8 for BTC.
	Decimals int64 `json:"decimals"`

	// Address to pay to. It belongs to this invoice.
	Address string `json:"address"`

	// For wallets and QR codes: a payment link for what is left to pay now. On TRON, where wallets agree on no link, the plain address. Empty while nothing is asked for: confirming, paid, overpaid, expired, cancelled, or only a new price on the checkout can name an amount.
	URI string `json:"uri"`

	// Confirmations that a payment needs; fixed when the asset was locked.
	RequiredConfirmations int64 `json:"required_confirmations"`
}

// InvoiceRate: The rate used to compute the crypto amount.
type InvoiceRate struct {
	// Price of one unit of the asset in the invoice currency, in full precision.
	FiatPerAsset string `json:"fiat_per_asset"`

	// When the rate was fixed.
	LockedAt string `json:"locked_at"`

	// When the locked rate and exact amount expire. After that the payer gets a new price for what is left.
	ExpiresAt string `json:"expires_at"`
}

// InvoiceReceived: Amounts received so far.
type InvoiceReceived struct {
	// Sum of counted payments, confirmed or not, in units of the locked asset.
	Amount string `json:"amount"`

	// The same sum in base units.
	AmountBaseUnits string `json:"amount_base_units"`

	// The confirmed part of it in base units.
	ConfirmedBaseUnits string `json:"confirmed_base_units"`
}

// InvoiceFlags: Circumstances in addition to the status.
type InvoiceFlags struct {
	// A payment arrived after the invoice expired.
	PaidLate bool `json:"paid_late"`

	// Less than the full amount counts as paid: the merchant accepted it, or nobody can send so small a rest.
	UnderpaidAccepted bool `json:"underpaid_accepted"`
}

// InvoiceCustomer: The payer, if given.
type InvoiceCustomer struct {
	// Email address given at creation.
	Email *string `json:"email"`

	// Name given at creation.
	Name *string `json:"name"`
}

// InvoiceUrls: Pages around the invoice.
type InvoiceUrls struct {
	// Hosted checkout page: send the payer there.
	Checkout string `json:"checkout"`

	// Receipt page.
	Receipt string `json:"receipt"`

	// Where the checkout links to after payment.
	Success *string `json:"success"`

	// Where the checkout links to when the payer cancels.
	Cancel *string `json:"cancel"`
}

// Invoice: A fiat price, paid on-chain in a crypto asset.
type Invoice struct {
	// Unique.
	ID string `json:"id"`

	Object string `json:"object"`

	// Counts up per workspace and mode; gaps are possible.
	Number int64 `json:"number"`

	// State of the invoice.
	Status string `json:"status"`

	// False for test invoices.
	Livemode bool `json:"livemode"`

	// Text for the payer.
	Description *string `json:"description"`

	// The merchant's own reference.
	OrderID *string `json:"order_id"`

	Metadata map[string]string `json:"metadata"`

	// Price in fiat.
	Amount Money `json:"amount"`

	// What to pay on-chain; null until an asset is locked.
	Crypto *InvoiceCrypto `json:"crypto"`

	// Locked rate; null until an asset is locked.
	Rate *InvoiceRate `json:"rate"`

	Received InvoiceReceived `json:"received"`

	Flags InvoiceFlags `json:"flags"`

	Customer InvoiceCustomer `json:"customer"`

	Urls InvoiceUrls `json:"urls"`

	// The payment link that created it.
	PaymentLinkID *string `json:"payment_link_id"`

	// The product of that payment link.
	ProductID *string `json:"product_id"`

	// Source: `api` for invoices created with a key.
	Source string `json:"source"`

	// When it was created.
	CreatedAt string `json:"created_at"`

	// The invoice expires if the full amount has not arrived by then.
	ExpiresAt string `json:"expires_at"`

	// When the full amount was confirmed.
	PaidAt *string `json:"paid_at"`

	// When it last changed.
	UpdatedAt string `json:"updated_at"`
}

// Payment: An on-chain transfer attributed to an invoice.
type Payment struct {
	// Unique.
	ID string `json:"id"`

	Object string `json:"object"`

	// False for payments of test invoices.
	Livemode bool `json:"livemode"`

	// The invoice it was attributed to.
	InvoiceID string `json:"invoice_id"`

	// Asset id: `<symbol>_<network>`.
	Asset string `json:"asset"`

	// Network of the asset.
	Network string `json:"network"`

	// Ticker of the asset, in capitals.
	Symbol string `json:"symbol"`

	// Amount in units of the asset.
	Amount string `json:"amount"`

	// Amount in base units.
	AmountBaseUnits string `json:"amount_base_units"`

	// Decimals between base units and `amount`: 8 for BTC.
	Decimals int64 `json:"decimals"`

	// `detected` and `confirmed` payments exist on the chain; `replaced`, `dropped` and `orphaned` ones no longer do.
	Status string `json:"status"`

	// Transaction; null for simulated payments, and for coins from a contract call that only the balance of the address shows.
	TxHash *string `json:"tx_hash"`

	// Output, log or instruction inside the transaction.
	OutputIndex *int64 `json:"output_index"`

	// Sender, if the chain has one.
	FromAddress *string `json:"from_address"`

	// The invoice address that received it.
	ToAddress string `json:"to_address"`

	// Block or slot; null until it is in one.
	BlockNumber *int64 `json:"block_number"`

	// Hash of that block.
	BlockHash *string `json:"block_hash"`

	// Confirmations so far, including its own block.
	Confirmations int64 `json:"confirmations"`

	// Confirmations required.
	RequiredConfirmations int64 `json:"required_confirmations"`

	// Whether it counts towards the invoice.
	Counted bool `json:"counted"`

	// Why it does not count: `wrong_asset`, `out_of_quote`, `dust` (too small to change anything) and others.
	UncountedReason *string `json:"uncounted_reason"`

	// It arrived after the invoice expired.
	Late bool `json:"late"`

	// It was created with the simulate operation.
	Simulated bool `json:"simulated"`

	// The transaction in a public block explorer.
	ExplorerURL *string `json:"explorer_url"`

	// When it was first seen.
	DetectedAt string `json:"detected_at"`

	// When it reached the required confirmations.
	ConfirmedAt *string `json:"confirmed_at"`

	// When it was first recorded.
	CreatedAt string `json:"created_at"`

	// When it last changed.
	UpdatedAt string `json:"updated_at"`
}

// Error: The error.
type Error struct {
	// Machine-readable error code.
	Code string `json:"code"`

	// Human-readable message. The text may change.
	Message string `json:"message"`

	// Offending fields of a `VALIDATION_ERROR`.
	Details []ErrorDetail `json:"details,omitempty"`
}

// ErrorDetail: One offending field.
type ErrorDetail struct {
	// Dotted path of the offending field: `customer.email`, `events.2`.
	Path string `json:"path"`

	// What is wrong.
	Message string `json:"message"`
}

// ListMeta: Position in the list.
type ListMeta struct {
	// Pass it as `cursor` for the next page; null on the last one.
	NextCursor *string `json:"next_cursor"`

	// Whether there is a next page.
	HasMore bool `json:"has_more"`
}

// PaymentLink: A page that creates an invoice for each payer.
type PaymentLink struct {
	// Unique.
	ID string `json:"id"`

	Object string `json:"object"`

	// False for test links.
	Livemode bool `json:"livemode"`

	// An inactive link accepts no new payments.
	Status string `json:"status"`

	// Shown to payers.
	Title string `json:"title"`

	// Further description, shown to payers.
	Description *string `json:"description"`

	// ISO 4217 code.
	Currency string `json:"currency"`

	// Fixed amount; null when the payer chooses it.
	Amount *string `json:"amount"`

	// Whether the payer chooses the amount.
	AllowCustomAmount bool `json:"allow_custom_amount"`

	// Minimum that a payer can choose.
	MinAmount *string `json:"min_amount"`

	// Maximum that a payer can choose.
	MaxAmount *string `json:"max_amount"`

	// The product whose title, price and currency were copied.
	ProductID *string `json:"product_id"`

	// The page for payers.
	URL string `json:"url"`

	// Invoices created from it.
	Uses int64 `json:"uses"`

	// When it stopped accepting new payments.
	DeactivatedAt *string `json:"deactivated_at"`

	// When it was created.
	CreatedAt string `json:"created_at"`

	// When it last changed.
	UpdatedAt string `json:"updated_at"`
}

// Product: Something that payment links sell.
type Product struct {
	// Unique.
	ID string `json:"id"`

	Object string `json:"object"`

	// False for test products.
	Livemode bool `json:"livemode"`

	// Shown to payers.
	Name string `json:"name"`

	// Further description.
	Description *string `json:"description"`

	// Price, with exactly the decimals of the currency.
	Price string `json:"price"`

	// ISO 4217 code.
	Currency string `json:"currency"`

	// Your own code; unique in the workspace and mode.
	Sku *string `json:"sku"`

	// You cannot create payment links for an inactive product.
	Active bool `json:"active"`

	// When it was created.
	CreatedAt string `json:"created_at"`

	// When it last changed.
	UpdatedAt string `json:"updated_at"`
}

// Currency: A supported crypto asset.
type Currency struct {
	// Asset id: `<symbol>_<network>`.
	ID string `json:"id"`

	Object string `json:"object"`

	// The mode of the key: availability may differ between the two.
	Livemode bool `json:"livemode"`

	// Ticker of the asset, in capitals.
	Symbol string `json:"symbol"`

	// Network of the asset.
	Network string `json:"network"`

	// Display name.
	Name string `json:"name"`

	// Decimals between base units and `amount`: 8 for BTC.
	Decimals int64 `json:"decimals"`

	// Token contract or mint; null for the coin of the network.
	ContractAddress *string `json:"contract_address"`

	// Minimum amount of an invoice, in units of the asset.
	MinAmount string `json:"min_amount"`

	// Confirmations required for an ordinary invoice; `crypto.required_confirmations` of an invoice is the number required for its value.
	Confirmations int64 `json:"confirmations"`

	// Whether this workspace can receive it now.
	Available bool `json:"available"`

	// Reason; null exactly when `available` is true.
	UnavailableReason *string `json:"unavailable_reason"`

	// A node is behind the network, so that real transfers are seen.
	Watched bool `json:"watched"`

	// When the workspace was created.
	CreatedAt string `json:"created_at"`

	// When availability was checked: now.
	UpdatedAt string `json:"updated_at"`
}

// Rate: Current price of one unit of an asset, including the workspace's spread.
type Rate struct {
	Object string `json:"object"`

	// The mode of the key.
	Livemode bool `json:"livemode"`

	// Asset id: `<symbol>_<network>`.
	Asset string `json:"asset"`

	// Ticker of the asset, in capitals.
	Symbol string `json:"symbol"`

	// Network of the asset.
	Network string `json:"network"`

	// Currency of the price.
	Fiat string `json:"fiat"`

	// Price of one unit of the asset, in full precision.
	FiatPerAsset string `json:"fiat_per_asset"`

	// Number of independent sources of the price.
	Sources int64 `json:"sources"`

	// Time of the oldest price in it: a rate never changes, the next one takes its place.
	CreatedAt string `json:"created_at"`

	// Time of the oldest price in it.
	UpdatedAt string `json:"updated_at"`

	// The rate is not used after this time.
	ExpiresAt string `json:"expires_at"`
}

// Estimate: The amount that a lock at this moment would require.
type Estimate struct {
	Object string `json:"object"`

	// The mode of the key.
	Livemode bool `json:"livemode"`

	// Asset id: `<symbol>_<network>`.
	Asset string `json:"asset"`

	// Network of the asset.
	Network string `json:"network"`

	// Ticker of the asset, in capitals.
	Symbol string `json:"symbol"`

	// The price to convert.
	Fiat Money `json:"fiat"`

	// The price in units of the asset, rounded up like an invoice.
	Amount string `json:"amount"`

	// The same amount in base units.
	AmountBaseUnits string `json:"amount_base_units"`

	// Decimals between base units and `amount`: 8 for BTC.
	Decimals int64 `json:"decimals"`

	// Price of one unit of the asset, in full precision.
	FiatPerAsset string `json:"fiat_per_asset"`

	// Invoices below this amount, in units of the asset, are refused; estimates are not.
	MinAmount string `json:"min_amount"`

	// Time of the oldest price in the rate.
	RateUpdatedAt string `json:"rate_updated_at"`

	// When it was created.
	CreatedAt string `json:"created_at"`

	// The same: an estimate never changes.
	UpdatedAt string `json:"updated_at"`
}

// WebhookEndpoint: Your URL that receives signed events.
type WebhookEndpoint struct {
	// Unique.
	ID string `json:"id"`

	Object string `json:"object"`

	// False when it only receives test events.
	Livemode bool `json:"livemode"`

	// Where events are sent.
	URL string `json:"url"`

	// Event types it receives, or `*` for all.
	Events []string `json:"events"`

	// Which events it receives.
	Mode string `json:"mode"`

	// Your own note.
	Description *string `json:"description"`

	// A disabled endpoint receives nothing.
	Status string `json:"status"`

	// When it was created.
	CreatedAt string `json:"created_at"`

	// When it last changed.
	UpdatedAt string `json:"updated_at"`
}

// WebhookEndpointCreated: A new webhook endpoint with its signing secret.
type WebhookEndpointCreated struct {
	// Unique.
	ID string `json:"id"`

	Object string `json:"object"`

	// False when it only receives test events.
	Livemode bool `json:"livemode"`

	// Where events are sent.
	URL string `json:"url"`

	// Event types it receives, or `*` for all.
	Events []string `json:"events"`

	// Which events it receives.
	Mode string `json:"mode"`

	// Your own note.
	Description *string `json:"description"`

	// A disabled endpoint receives nothing.
	Status string `json:"status"`

	// When it was created.
	CreatedAt string `json:"created_at"`

	// When it last changed.
	UpdatedAt string `json:"updated_at"`

	// Signing secret. It is shown only once.
	Secret string `json:"secret"`

	// What is probably a mistake, such as another endpoint with the same URL, which then gets every event twice; null otherwise.
	Warning *string `json:"warning"`
}

// Deleted: The deleted endpoint.
type Deleted struct {
	// ID of the deleted endpoint.
	ID string `json:"id"`

	// The deleted endpoint.
	Object string `json:"object"`

	Deleted bool `json:"deleted"`
}
