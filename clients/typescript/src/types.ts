import type {
  Currency,
  ErrorDetail,
  Invoice,
  InvoiceCreate,
  ListInvoicesData,
  ListPaymentLinksData,
  ListPaymentsData,
  ListRatesData,
  Payment,
  SimulateRequest,
  Error as WireError,
  Event as WireEvent,
} from './openapi.generated.ts'

export type {
  Currency,
  Deleted,
  Estimate,
  EstimateRequest,
  Invoice,
  InvoiceCreate,
  Payment,
  PaymentLink,
  PaymentLinkCreate,
  Product,
  ProductCreate,
  Rate,
  WebhookEndpoint,
  WebhookEndpointCreate,
  WebhookEndpointCreated,
} from './openapi.generated.ts'

/** A code of the API: the seventeen of today, and those that a later server may add. */
export type PaymeshErrorCode = WireError['code']

/** One invalid field: its dotted path (`customer.email`, `events.2`) and the problem. */
export type PaymeshErrorDetail = ErrorDetail

/** Page size (1 to 100, default 20) and position of a list. */
export type ListQuery = NonNullable<ListPaymentLinksData['query']>
/** Filters of the invoice list. */
export type InvoiceListQuery = NonNullable<ListInvoicesData['query']>
/** Filters of the payment list. */
export type PaymentListQuery = NonNullable<ListPaymentsData['query']>
/** Filters of the rates; `fiat` is USD unless given. */
export type RateListQuery = NonNullable<ListRatesData['query']>

/** The scenario of a simulation. */
export type SimulationScenario = SimulateRequest['scenario']

/** An asset id, `<symbol>_<network>`: those of today, and those that a later server may add. */
export type AssetId = Currency['id']
/** ISO 4217 code of a supported price currency. */
export type FiatCode = InvoiceCreate['currency']
/** State of an invoice; a later server may add one. `paid` and `overpaid` are the two in which the merchant has the money. */
export type InvoiceStatus = Invoice['status']

/** The types without those that a later server may add. */
type KnownType<T> = T extends string ? (string extends T ? never : T) : never

type PaymentEventType = 'payment.detected' | 'payment.confirmed'

/** A transfer to an invoice was seen or confirmed on chain; `data.object` is the invoice right after that. */
export interface PaymentEvent extends WireEvent {
  readonly type: PaymentEventType
  readonly data: { readonly object: Invoice; readonly payment: Payment }
}

/** The state of an invoice changed, or an endpoint is being tested (`webhook.test`). `data.object` is the invoice right after that. */
export interface InvoiceEvent extends WireEvent {
  readonly type: Exclude<KnownType<WireEvent['type']>, PaymentEventType>
  readonly data: { readonly object: Invoice; readonly payment?: never }
}

/**
 * The body of a delivery, identified by `type`. `livemode` is false for test and simulated events: ship no goods for
 * those. A newer server may add a type: let a `switch` have a default.
 */
export type WebhookEvent = InvoiceEvent | PaymentEvent
