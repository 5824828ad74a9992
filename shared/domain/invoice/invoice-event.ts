import type { AssetId, EventType, ExceptionKind, NetworkId, PaymentState } from '../enumerations.ts'
import type { RefundClaim } from '../payment/refundable.ts'
import type { InvoiceState, Ms, PaymentMethod, Quote } from './model.ts'

/** A stored payment as input of the state machine. */
export interface PaymentObservation {
  /** Transfer key. */
  readonly payment: string
  readonly version: number
  readonly state: PaymentState
  /** Null for a token that no payment method can use; an operator may accept it. */
  readonly asset: AssetId | null
  readonly network: NetworkId
  /** Lower-case hex of the receiving script or address. */
  readonly matchKey: string
  readonly amountBase: bigint
  /** First-seen time in the mempool, otherwise block time. Never processing time. */
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

/** Who decided, and why; recorded in the audit log. Absent for automatic changes. */
export interface Attribution {
  readonly by?: string
  readonly reason?: string
}

/** Events of an invoice. Names are past tense; `payments_changed` carries no data because every event folds payments first. */
export type InvoiceEvent =
  | { readonly type: 'payments_changed' }
  /** `methodCount` is the number of payment methods for which the choice was prepared; with another number it is refused. */
  | { readonly type: 'asset_chosen'; readonly paymentMethod: PaymentMethod; readonly methodCount?: number }
  /** The payer again chose an asset whose quote is still valid. */
  | { readonly type: 'payment_method_resumed'; readonly asset: AssetId; readonly matchKey: string }
  | {
      readonly type: 'quote_renewed'
      /** Asset and address of the payment method that the quote was prepared for; while another one is active it is refused. */
      readonly asset: AssetId
      readonly matchKey: string
      /** The number of its quotes for which the renewal was prepared; with another number it is refused. */
      readonly quoteCount?: number
      readonly quote: Quote
      readonly claim: string
      readonly draws?: readonly string[]
    }
  | { readonly type: 'deadline_reached' }
  | ({ readonly type: 'cancel_requested' } & Attribution)
  | ({ readonly type: 'expiry_simulated' } & Attribution)
  | ({
      readonly type: 'funds_accepted'
      /** Value of each accepted payment in base units of the chosen asset. */
      readonly payments: readonly { readonly payment: string; readonly valueBase: bigint }[]
    } & Attribution)
  /** An operator counts a confirmed transfer that is dust. */
  | ({ readonly type: 'payment_counted'; readonly payment: string } & Attribution)

export type InvoiceEventType = InvoiceEvent['type']

/** Why an event was refused; all map to 409 `INVALID_STATE` at the edge. */
export type Refusal =
  | 'not_cancellable'
  | 'has_funds'
  | 'no_open_price'
  | 'too_many_payment_methods'
  /** Another choice was faster: read the invoice and prepare the choice again. */
  | 'payment_methods_changed'
  | 'too_many_quotes'
  | 'not_simulatable'
  | 'not_acceptable'
  | 'unconfirmed_funds'
  /** Refunds claim the funds. */
  | 'refunded_funds'
  | 'not_countable'

/** An effect that the outbox must carry out exactly once, in this order. */
export type Effect =
  | { readonly kind: 'event'; readonly type: EventType; readonly payment: string | null }
  | { readonly kind: 'exception'; readonly exception: ExceptionKind; readonly payment: string | null }
  | { readonly kind: 'exception_closed'; readonly exception: ExceptionKind; readonly payment: string | null }
  | { readonly kind: 'mail'; readonly template: 'payment_reorged'; readonly payment: string | null }
  /** An operator's action, for the audit log. */
  | {
      readonly kind: 'audit'
      readonly action: AuditedAction
      readonly by: string
      readonly reason?: string
      readonly payment: string | null
    }

/** Operator actions on an invoice that are recorded in the audit log. */
export type AuditedAction = 'created' | 'cancelled' | 'expiry_simulated' | 'funds_accepted' | 'payment_counted'

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
  /** Time up to which the chain is known, if earlier than `at`: an invoice expires only when its deadline is not after it. */
  readonly knownUntil?: Ms
  /** All refunds of the invoice; absent = none. Money that they claim is not accepted, and an exception says when they claim too much. */
  readonly refunds?: readonly RefundClaim[]
}
