import type {
  AssetId,
  EventType,
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

/** Where a locked rate came from; kept for audits and never shown to payers. */
export interface RateProvenance {
  /** Time of the snapshot that the rate was read from. */
  readonly snapshotAt: Ms
  /** Names of the crypto sources whose quotes formed the median. */
  readonly sources: readonly string[]
  /** Names of the FX sources, empty for USD. */
  readonly fxSources: readonly string[]
  /** Spread added for the merchant, in basis points. */
  readonly spreadBps: number
}

/** One price promise to the payer. A quote never changes; a re-quote appends another. */
export interface Quote {
  /** Exact amount due in base units of the asset. */
  readonly amountBase: bigint
  /** The same amount as a decimal string at the asset's display precision. */
  readonly amount: string
  /** Fiat per one asset unit with every digit used, spread included. */
  readonly fiatPerAsset: string
  readonly lockedAt: Ms
  readonly expiresAt: Ms
  readonly uri: string
  readonly provenance: RateProvenance
}

/** Bounds frozen when the asset was locked, so that a later policy change never re-judges an invoice. */
export interface LockPolicy {
  /** Missing base units that still count as paid. */
  readonly toleranceBase: bigint
  /** Excess base units that do not yet make an invoice overpaid. */
  readonly overToleranceBase: bigint
  /** How long after the deadline a late payment may still settle. */
  readonly lateGraceMs: number
  /** How far the rate may have moved against the merchant for a late payment to settle, in basis points. */
  readonly lateDriftBps: number
  /** Transfers below this many base units are dust; see `AssetLock.countsDust`. */
  readonly dustBase: bigint
}

/** A claim that ends: an address of a pool, or one amount on an address that many invoices share. */
export interface LockHold {
  readonly kind: 'address' | 'amount'
  /** How long after its return only the exact amount asked for settles the next invoice on it. */
  readonly quarantineMs: number
  /**
   * How long the claim stands after the end of its last quote, by block time; at least 24 h. Absent on locks of before
   * decision 50: their claims stand for 24 h + `quarantineMs` after the invoice's end.
   */
  readonly heldMs?: number
  /** Null while the claim stands; money first seen from then on is not this invoice's. */
  readonly releasedAt: Ms | null
}

/** The invoice that an address was shown on shortly before: up to `until` only the exact amount on it is the new holder's. */
export interface PriorHold {
  readonly invoiceId: string
  readonly workspaceId: string
  readonly number: number
  readonly until: Ms
}

/** An asset chosen for an invoice: the address, the claim that reserves it and every quote given on it. */
export interface AssetLock {
  readonly asset: AssetId
  readonly network: NetworkId
  readonly family: Family
  readonly symbol: string
  readonly decimals: number
  /** Address as the payer sees it. */
  readonly address: string
  /** Canonical bytes of the receiving script or address, lower-case hex; what scanners match. */
  readonly matchKey: string
  /** The entry in the installation-wide unique index that makes the address or amount ours; the invoice write is the claim. */
  readonly claim: string
  /** Claims of earlier quotes on this lock where amounts are unique; they stay reserved together with `claim`. */
  readonly formerClaims?: readonly string[]
  /** Present when the claim is handed on one day; absent when the address is this invoice's for ever. */
  readonly hold?: LockHold
  /** Present when another invoice gave the address back within its quarantine. */
  readonly priorHold?: PriorHold
  /** Places in the budget of anonymous visitors that the claims of this lock take; absent when they take none. */
  readonly draws?: readonly string[]
  /** 32 bytes as lower-case hex that a payment may name to be known as this lock's (Solana Pay); never used again. */
  readonly reference?: string
  /** Present when the asset is the network's own coin, which may also move where no transfer shows it. */
  readonly coin?: true
  readonly requiredConfirmations: number
  /** True when a payment must also lie in a block that the chain itself calls final; absent = as the network has it. */
  readonly needsFinality?: boolean
  readonly policy: LockPolicy
  /**
   * False: dust changes nothing, unless it completes the invoice or an operator counts it. Absent on locks made before
   * decision 0047: their dust is summed and never announced, for good.
   */
  readonly countsDust?: false
  /** At least one; the last one is current. */
  readonly quotes: readonly Quote[]
  readonly from: Ms
  /** Null while the lock is the invoice's active one. */
  readonly to: Ms | null
}

/** Why a payment on one of the invoice's addresses does not enter its sums. */
export type UncountedReason =
  /** Another asset than any lock of this address asked for. */
  | 'wrong_asset'
  /** Another network than any lock of this address asked for. */
  | 'wrong_network'
  /** Right for one of the invoice's locks, but another lock received funds first. */
  | 'inactive_lock'
  /** First seen when no quote held and the last one had been over for too long, or had drifted too far. */
  | 'out_of_quote'
  /** Sent to an address that none of the locks knows. */
  | 'unmatched'
  /** Too small to change anything, see `AssetLock.countsDust`. */
  | 'dust'

/** An entry of the operators' inbox that this invoice opened and has not closed. */
export interface OpenException {
  readonly exception: ExceptionKind
  /** Transfer key it is about; null when it is about the invoice as a whole. */
  readonly payment: string | null
}

/** What an invoice knows of one of its payments. Sums and "announced once" flags come from these rows alone. */
export interface LedgerRow {
  /** Transfer key of the payment. */
  readonly payment: string
  readonly version: number
  readonly state: PaymentState
  readonly amountBase: bigint
  readonly firstSeenAt: Ms
  /** True for the locked asset on the locked network, and for what an operator accepted; other money never enters sums. */
  readonly counted: boolean
  /** Null exactly when `counted`. */
  readonly uncountedReason: UncountedReason | null
  /** Value an operator gave it in base units of the locked asset; null unless accepted. It then counts with this value. */
  readonly acceptedBase: bigint | null
  /** Present on dust that an operator counted: it then counts with its own amount and is announced as any payment. */
  readonly countedByHand?: true
  /** First seen after the deadline; judged once, at first application. */
  readonly late: boolean
  /** Fiat per asset at first sight, only looked up for late payments; null when no snapshot existed. */
  readonly rateSeen: string | null
  /** On time, late within bounds, or accepted by an operator. Thresholds use eligible rows only. */
  readonly eligible: boolean
  readonly simulated: boolean
  /** `payment.detected` was emitted, or never will be because an operator attached the payment silently. */
  readonly detected: boolean
  /** `payment.confirmed` was emitted, or never will be (as above). */
  readonly confirmed: boolean
  /** `invoice.late_payment` was emitted for this row. */
  readonly lateAnnounced: boolean
}

/**
 * Payments without rows: dust, and payments beyond the hundredth row, so that many tiny transfers cannot brick an invoice.
 * Sums hold the latter only, and on locks made before decision 0047 dust as well.
 */
export interface OthersRow {
  readonly count: number
  /** Eligible and live, base units. */
  readonly seenBase: bigint
  /** Eligible and confirmed, base units. */
  readonly confirmedBase: bigint
  /** `<sum of versions>-<hash over (payment, version, state)>`, so that a change and a stale read are noticed. */
  readonly digest: string
}

/** Everything of an invoice that may change. Only `transition` makes a new one. */
export interface InvoiceState {
  readonly status: InvoiceStatus
  readonly mode: Mode
  readonly createdAt: Ms
  readonly expiresAt: Ms
  /** True when the invoice ends with its quote; then a lock moves `expiresAt` to the quote's end. */
  readonly endsWithQuote: boolean
  readonly paidAt: Ms | null
  readonly updatedAt: Ms
  /** Rises by one with each saved change. */
  readonly version: number
  /** Sequence number of the last outbox entry of any kind. */
  readonly eventSeq: number
  /** Oldest first; empty while `new`. The last one with `to === null` is the active lock. */
  readonly locks: readonly AssetLock[]
  readonly ledger: readonly LedgerRow[]
  readonly others: OthersRow | null
  /** Inbox entries this invoice has open, so that each is opened once and closed when its reason is gone. */
  readonly exceptions: readonly OpenException[]
  readonly paidLate: boolean
  readonly underpaidAccepted: boolean
  /** Highest eligible sum announced by `invoice.partial`, base units. */
  readonly partialAnnouncedBase: bigint
  /** When the invoice last entered `confirming`; null outside it. */
  readonly confirmingSince: Ms | null
  /** When the clock must look at this invoice next; null when it need not. */
  readonly nextActionAt: Ms | null
}

/** What was agreed at creation and never changes. */
export interface InvoiceTerms {
  readonly id: string
  readonly workspaceId: string
  readonly mode: Mode
  readonly number: number
  readonly description: string | null
  readonly orderId: string | null
  readonly metadata: Readonly<Record<string, string>>
  readonly fiat: { readonly minor: bigint; readonly currency: FiatCode }
  readonly customer: { readonly email: string | null; readonly name: string | null }
  readonly successUrl: string | null
  readonly cancelUrl: string | null
  readonly paymentLinkId: string | null
  readonly productId: string | null
  readonly source: 'link' | 'api' | 'manual' | 'billing'
  readonly createdAt: Ms
}

/** A stored payment as the state machine sees it. */
export interface PaymentObservation {
  /** Transfer key. */
  readonly payment: string
  readonly version: number
  readonly state: PaymentState
  /** Null for a token that no lock can ask for; an operator may accept it. */
  readonly asset: AssetId | null
  readonly network: NetworkId
  /** Lower-case hex of the receiving script or address. */
  readonly matchKey: string
  readonly amountBase: bigint
  /** First-seen time in the mempool, else block time. Never processing time. */
  readonly firstSeenAt: Ms
  /** Mined more than the mempool grace after the deadline although first seen before it. */
  readonly minedTooLate: boolean
  readonly simulated: boolean
  /**
   * Fiat per asset, spread included, of the newest snapshot at most 120 s before first sight; null when there is none.
   * Needed whenever the payment was first seen after the deadline or outside every quote's window.
   */
  readonly rateSeen: string | null
}

/** Whose word something is, and why; noted in the audit trail. Absent for what programs do. */
export interface Word {
  readonly by?: string
  readonly reason?: string
}

/** What can happen to an invoice. Names are past tense; `payments_changed` carries no data because every event folds payments first. */
export type InvoiceEvent =
  | { readonly type: 'payments_changed' }
  /** `lockCount` is the number of locks that the choice was prepared for; with another one it is refused. */
  | { readonly type: 'asset_locked'; readonly lock: AssetLock; readonly lockCount?: number }
  /** The payer chose an asset again whose quote still holds. */
  | { readonly type: 'lock_resumed'; readonly asset: AssetId; readonly matchKey: string }
  | {
      readonly type: 'quote_renewed'
      readonly quote: Quote
      readonly claim: string
      readonly draws?: readonly string[]
    }
  | { readonly type: 'deadline_reached' }
  | ({ readonly type: 'cancel_requested' } & Word)
  | ({ readonly type: 'expiry_simulated' } & Word)
  | ({
      readonly type: 'funds_accepted'
      /** Value of each accepted payment in base units of the locked asset. */
      readonly payments: readonly { readonly payment: string; readonly valueBase: bigint }[]
    } & Word)
  /** An operator counts a confirmed transfer that is dust. */
  | ({ readonly type: 'payment_counted'; readonly payment: string } & Word)
export type InvoiceEventType = InvoiceEvent['type']

/** Why an event was refused; all map to 409 `INVALID_STATE` at the edge. */
export type Refusal =
  | 'not_cancellable'
  | 'has_funds'
  | 'not_lockable'
  | 'too_many_locks'
  /** Another choice was faster: read the invoice and prepare the choice again. */
  | 'locks_changed'
  | 'too_many_quotes'
  | 'not_simulatable'
  | 'not_acceptable'
  | 'unconfirmed_funds'
  | 'not_countable'

/** Something the outbox must carry out exactly once, in this order. */
export type Effect =
  | { readonly kind: 'event'; readonly type: EventType; readonly payment: string | null }
  | { readonly kind: 'exception'; readonly exception: ExceptionKind; readonly payment: string | null }
  | { readonly kind: 'exception_closed'; readonly exception: ExceptionKind; readonly payment: string | null }
  | { readonly kind: 'mail'; readonly template: 'payment_reorged'; readonly payment: string | null }
  /** A person's deed, for the audit trail. */
  | {
      readonly kind: 'audit'
      readonly deed: AuditedDeed
      readonly by: string
      readonly reason?: string
      readonly payment: string | null
    }

/** What a person may do to an invoice that is noted in the audit trail. */
export type AuditedDeed = 'created' | 'cancelled' | 'expiry_simulated' | 'funds_accepted' | 'payment_counted'

export type TransitionResult =
  /** Nothing to save. `state` is the very object that was passed in. */
  | { readonly outcome: 'unchanged'; readonly state: InvoiceState }
  /** The event is not allowed now; nothing is saved. */
  | { readonly outcome: 'refused'; readonly reason: Refusal }
  /** Save `state` (version + 1) and `effects` in one write. Effects may be empty when only the ledger moved. */
  | { readonly outcome: 'changed'; readonly state: InvoiceState; readonly effects: readonly Effect[] }

/** Input of one decision. `observations` are ALL stored payments attributed to the invoice. */
export interface TransitionInput {
  readonly observations: readonly PaymentObservation[]
  readonly event: InvoiceEvent
  readonly at: Ms
  /** Up to when the chain is known, if less than `at`: a step back ends an invoice only when its deadline lies before. */
  readonly knownUntil?: Ms
}

/** Whether the claims of a lock still stand; those of a returned address or amount may be another invoice's. */
export function isHeld(lock: Pick<AssetLock, 'hold'>): boolean {
  return (lock.hold?.releasedAt ?? null) === null
}

/** The lock that money is judged against, or null while the invoice is `new`. */
export function activeLock(state: Pick<InvoiceState, 'locks'>): AssetLock | null {
  return state.locks.findLast((lock) => lock.to === null) ?? null
}

/** The quote a payer sees now, or null while the invoice is `new`. */
export function currentQuote(state: Pick<InvoiceState, 'locks'>): Quote | null {
  return activeLock(state)?.quotes.at(-1) ?? null
}
