import type {
  AssetId,
  ExceptionKind,
  Family,
  FiatCode,
  InvoiceStatus,
  Mode,
  NetworkId,
  PaymentState,
} from '../enumerations.ts'

/** A point in time in Unix milliseconds, UTC. */
export type Ms = number

/** Source of a quote's rate; kept for audits and never shown to payers. */
export interface RateProvenance {
  /** Time of the snapshot that the rate was read from. */
  readonly snapshotAt: Ms
  /** Names of the crypto sources whose quotes formed the median. */
  readonly sources: readonly string[]
  /** Names of the FX sources, empty for USD. */
  readonly fxSources: readonly string[]
  /** Spread added for the merchant, in basis points. */
  readonly spreadBps: number
  /** Which of the two Argentine prices was used; present on prices in ARS. */
  readonly arsSeries?: 'crypto' | 'official'
}

/** One quote given to the payer. A quote never changes; a re-quote appends another. */
export interface Quote {
  /** Exact amount that the payer was asked for, in base units of the asset. */
  readonly amountBase: bigint
  /** The same amount as a decimal string at the asset's display precision. */
  readonly amount: string
  /** Fiat per one asset unit with every digit used, spread included. */
  readonly fiatPerAsset: string
  readonly quotedAt: Ms
  readonly expiresAt: Ms
  readonly provenance: RateProvenance
  /** Present on a quote for the rest of a price of which a part was paid before; absent on a quote for the whole price. */
  readonly rest?: QuotedRest
}

/** What a quote for the rest of a price was computed from, base units. */
export interface QuotedRest {
  /** The whole price at the quote's rate, rounded up like every price. */
  readonly wholeBase: bigint
  /** The unpaid part of `wholeBase` when the quote was given, to the base unit; `amountBase` is this, rounded up to what a payer can type. */
  readonly restBase: bigint
}

/** Bounds frozen when the asset was fixed, so that a later policy change never affects an invoice. */
export interface QuotePolicy {
  /** Missing base units that still count as paid: the merchant's tolerance, and never less than a rest that nobody can send. */
  readonly toleranceBase: bigint
  /** Amounts asked for are multiples of this, so that a payer can type them; base units, at least one. */
  readonly unitBase: bigint
  /** The least that is worth sending, and that the chain lets one send: no less is asked for, and as much too much is no excess. */
  readonly sendableBase: bigint
  /** How long after the deadline a late payment may still settle. */
  readonly lateGraceMs: number
  /** How far the rate may have moved against the merchant for a late payment to settle, in basis points. */
  readonly lateDriftBps: number
  /**
   * Part of the price, in basis points, that must have come within a quote for later money outside of every quote to be compared with
   * the rate of the last one. Smaller deposits count, and give later money no such claim.
   */
  readonly depositBps: number
  /** Transfers below this many base units are dust: they change nothing, unless one completes the invoice or an operator counts it. */
  readonly dustBase: bigint
  /** Present when another payer got the invoice's use of its payment link: all money is late, and only the merchant may accept it. */
  readonly isUseGone?: true
}

/** A temporary claim: an address of a pool, or one amount on an address that many invoices share. */
export interface QuoteHold {
  readonly kind: 'address' | 'amount'
  /** How long after its return only the exact amount due settles the next invoice on it. */
  readonly quarantineMs: number
  /** How long the claim is valid after the end of its last quote, by block time; at least 24 h. */
  readonly heldMs: number
  /** Null while the claim is valid; money first seen from then on is not this invoice's. */
  readonly releasedAt: Ms | null
}

/** The previous invoice of an address: up to `until` the new holder gets only exact amounts on it. */
export interface PriorHold {
  readonly invoiceId: string
  readonly workspaceId: string
  readonly number: number
  readonly until: Ms
}

/** How the places in the budget of visitors' open watches begin; one is free again when its invoice ends at the latest. */
export const WATCH_PLACE = 'watch:'

/** An asset chosen for an invoice: the address, the claim that reserves it and every quote given on it. */
export interface PaymentMethod {
  readonly asset: AssetId
  readonly network: NetworkId
  readonly family: Family
  readonly symbol: string
  readonly decimals: number
  /** Address as shown to the payer. */
  readonly address: string
  /** Canonical bytes of the receiving script or address, lower-case hex; what scanners match. */
  readonly matchKey: string
  /** The entry in the installation-wide unique index that reserves the address or amount; the invoice write is the claim. */
  readonly claim: string
  /** Claims of earlier quotes where amounts are unique; they stay reserved together with `claim`. */
  readonly formerClaims?: readonly string[]
  /** Present when the claim is temporary; absent when the address is permanently this invoice's. */
  readonly hold?: QuoteHold
  /** Present when another invoice returned the address and its quarantine is not over. */
  readonly priorHold?: PriorHold
  /** Places in the budget of anonymous visitors that the claims take; absent when they take none. */
  readonly draws?: readonly string[]
  /**
   * Places in the budget of visitors' open watches, since the network watches for the invoice because of it; empty once they were given back: when
   * enough money was seen, or the invoice ended. Absent when it never took any.
   */
  readonly watchPlaces?: readonly string[]
  /** 32 bytes as lower-case hex that a payment may include to be matched to this payment method (Solana Pay); never reused. */
  readonly reference?: string
  readonly requiredConfirmations: number
  /** True when a payment must also be in a finalized block; absent = the network's default. */
  readonly needsFinality?: boolean
  readonly policy: QuotePolicy
  /** At least one; the last one is current. */
  readonly quotes: readonly Quote[]
  /** Present when the coin got a newer price on another network: quotes locked before then end at this time at the latest. */
  readonly repricedAt?: Ms
  readonly from: Ms
  /** Null for the invoice's active payment method. */
  readonly to: Ms | null
}

/** Why a payment on one of the invoice's addresses does not enter its sums. */
export type UncountedReason =
  /** Another asset than that of any payment method of this address. */
  | 'wrong_asset'
  /** Another network than that of any payment method of this address. */
  | 'wrong_network'
  /** Right for one of the invoice's payment methods, but another one received funds first. */
  | 'inactive_payment_method'
  /** First seen when no quote was valid, and the price had fallen too far since the last one or that had been over for too long. */
  | 'out_of_quote'
  /** Sent to an address of none of the payment methods. */
  | 'unmatched'
  /** Too small to change anything, see `QuotePolicy.dustBase`. */
  | 'dust'

/** An exception that this invoice opened and has not closed. */
export interface OpenException {
  readonly exception: ExceptionKind
  /** Transfer key it is about; null when it is about the invoice as a whole. */
  readonly payment: string | null
}

/** What confirmed money does for the price from a time on: nothing, what it is at its own quote, or what an operator stated. */
export interface Booking {
  readonly at: Ms
  readonly worth: 'none' | 'own' | 'accepted'
}

/** The invoice's record of one payment. Sums and "announced once" flags come only from these rows. */
export interface LedgerRow {
  /** Transfer key of the payment. */
  readonly payment: string
  readonly version: number
  readonly state: PaymentState
  readonly amountBase: bigint
  readonly firstSeenAt: Ms
  /** True for the chosen asset on its network, and for payments that an operator accepted; other money never enters sums. */
  readonly counted: boolean
  /** Null exactly when `counted`. */
  readonly uncountedReason: UncountedReason | null
  /** Value that an operator assigned in base units of the chosen asset; null unless accepted. It then counts with this value. */
  readonly acceptedBase: bigint | null
  /** Present on dust that an operator counted: it then counts with its own amount and is announced like any payment. */
  readonly countedByHand?: true
  /** First seen after the deadline; checked once, at first application. */
  readonly late: boolean
  /** Fiat per asset when first seen, only read for late payments; null when no snapshot existed. */
  readonly rateSeen: string | null
  /** On time, late within bounds, or accepted by an operator. Thresholds use eligible rows only. */
  readonly eligible: boolean
  readonly simulated: boolean
  /** What it was worth to the price each time that changed while it was confirmed, oldest first; absent until it was confirmed. Only appended to. */
  readonly bookings?: readonly Booking[]
  /** `payment.detected` was emitted, or never will be because an operator attached the payment silently. */
  readonly detected: boolean
  /** `payment.confirmed` was emitted, or never will be (as above). */
  readonly confirmed: boolean
  /** `invoice.late_payment` was emitted for this row. */
  readonly lateAnnounced: boolean
}

/**
 * Payments beyond the hundredth row that count, so that many transfers cannot brick an invoice. Dust, and what else counts for nothing, is
 * in no sum.
 */
export interface OthersRow {
  readonly count: number
  /** Eligible and live, base units. */
  readonly seenBase: bigint
  /** Eligible and confirmed, base units. */
  readonly confirmedBase: bigint
  /** Hash over (payment, version, state) of each, to detect a change. */
  readonly digest: string
}

/** What the invoice of a link's visitor holds of the budgets of its connection; fixed when it is made. */
export interface Visit {
  /** Places in budgets, each unique in the installation, until the invoice is paid for the first time. */
  readonly places: readonly string[]
  /** Invoices before it that took the place of a limited link in a row, and ended without any transfer. */
  readonly repeats: number
  /** No quote begins from then on, so that an invoice without money cannot keep the use of a limited link; null = no such end. */
  readonly quotesUntil: Ms | null
}

/** The mutable part of an invoice. Only `transition` makes a new one. */
export interface InvoiceState {
  readonly status: InvoiceStatus
  readonly mode: Mode
  readonly createdAt: Ms
  readonly expiresAt: Ms
  /** True when the invoice ends with its quote; choosing an asset then moves `expiresAt` to the quote's end. */
  readonly endsWithQuote: boolean
  readonly paidAt: Ms | null
  readonly updatedAt: Ms
  /** Increases by one with each saved change. */
  readonly version: number
  /** Sequence number of the last outbox entry of any kind. */
  readonly eventSeq: number
  /** Oldest first; empty while `new`. The last one with `to === null` is the active one. */
  readonly paymentMethods: readonly PaymentMethod[]
  readonly ledger: readonly LedgerRow[]
  readonly others: OthersRow | null
  /**
   * Base units of the active coin that refunds claim of the money that pays the price: they pay nothing. Falls when refunds are withdrawn; grows
   * only until the invoice is paid, because what goes back afterwards does not make it unpaid. Absent = there never were any.
   */
  readonly claimedBase?: bigint
  /** Exceptions this invoice has open, so that each is opened once and closed when its reason no longer applies. */
  readonly exceptions: readonly OpenException[]
  readonly paidLate: boolean
  readonly underpaidAccepted: boolean
  /** Highest eligible sum announced by `invoice.partial`, base units. */
  readonly partialAnnouncedBase: bigint
  /** When the invoice last entered `confirming`; null outside it. */
  readonly confirmingSince: Ms | null
  /** When this invoice must be checked next; null when it need not. */
  readonly nextActionAt: Ms | null
  /** Absent on invoices that take nothing from the budget of a link's visitor. */
  readonly visit?: Visit
}

/** The rate at which an invoice is added up in its workspace's reporting currency, as of its creation. */
export interface ReportingRate {
  readonly currency: FiatCode
  /** Units of the reporting currency for one unit of the invoice's, a plain decimal. */
  readonly rate: string
  /** Time of the snapshot that the rate was read from. */
  readonly at: Ms
}

/** Terms agreed at creation; they never change. */
export interface InvoiceTerms {
  readonly id: string
  readonly workspaceId: string
  readonly mode: Mode
  readonly number: number
  readonly description: string | null
  readonly orderId: string | null
  readonly metadata: Readonly<Record<string, string>>
  readonly fiat: { readonly minor: bigint; readonly currency: FiatCode }
  /** Absent on invoices in the reporting currency, and where no current rate was known. */
  readonly reporting?: ReportingRate
  readonly customer: { readonly email: string | null; readonly name: string | null }
  readonly successUrl: string | null
  readonly cancelUrl: string | null
  readonly paymentLinkId: string | null
  readonly productId: string | null
  readonly source: 'link' | 'api' | 'manual' | 'billing'
  readonly createdAt: Ms
}

/** Whether the claims are still valid; those of a returned address or amount may be another invoice's. */
export function isHeld(paymentMethod: Pick<PaymentMethod, 'hold'>): boolean {
  return (paymentMethod.hold?.releasedAt ?? null) === null
}

/** The payment method that money is checked against, or null while the invoice is `new`. */
export function activePaymentMethod(state: Pick<InvoiceState, 'paymentMethods'>): PaymentMethod | null {
  return state.paymentMethods.findLast((paymentMethod) => paymentMethod.to === null) ?? null
}

/**
 * The networks on which money can still pay the invoice, that of the active payment method first: a payer may have paid in a coin that they
 * chose before, so nothing is late, and no invoice is over, while a block of any of them is unread. Empty before the first choice; a returned
 * address or amount waits for none.
 */
export function payableNetworks(state: Pick<InvoiceState, 'paymentMethods'>): readonly NetworkId[] {
  const active = activePaymentMethod(state)
  if (active === null) return []
  return [...new Set([active, ...state.paymentMethods.filter(isHeld)].map(({ network }) => network))]
}

/** The networks that the invoice's next check waits for: once enough money was seen, only the one that confirms it. */
export function awaitedNetworks(state: Pick<InvoiceState, 'paymentMethods' | 'status'>): readonly NetworkId[] {
  const networks = payableNetworks(state)
  return state.status === 'confirming' ? networks.slice(0, 1) : networks
}

/** The quote currently shown to the payer, or null while the invoice is `new`. */
export function currentQuote(state: Pick<InvoiceState, 'paymentMethods'>): Quote | null {
  return activePaymentMethod(state)?.quotes.at(-1) ?? null
}

/** An invoice that waits this long for confirmations needs attention. */
const STUCK_AFTER_MS = 24 * 3_600_000

/** When an invoice must be checked next: its deadline, or the moment its confirmations take too long; null when it need not. */
export function nextActionAt(
  state: Pick<InvoiceState, 'status' | 'expiresAt' | 'confirmingSince' | 'exceptions'>,
): Ms | null {
  if (state.status === 'new' || state.status === 'pending' || state.status === 'partial') return state.expiresAt
  if (state.status !== 'confirming' || state.confirmingSince === null) return null
  const known = state.exceptions.some((open) => open.exception === 'stuck')
  return known ? null : state.confirmingSince + STUCK_AFTER_MS
}
