import type { InvoiceStatus } from '#shared/domain/enumerations.ts'
import type { Effect } from './invoice-event.ts'
import type { InvoiceState, LedgerRow, Ms } from './model.ts'
import { isLive, isSettled, settlement, totals } from './totals.ts'

/** A state to be saved, with its announcements so far. */
export interface Draft {
  readonly state: InvoiceState
  readonly effects: readonly Effect[]
}

const ENTRY_EVENT = {
  pending: 'invoice.pending',
  partial: 'invoice.partial',
  confirming: 'invoice.confirming',
  paid: 'invoice.paid',
  overpaid: 'invoice.overpaid',
  expired: 'invoice.expired',
  cancelled: 'invoice.cancelled',
} as const

/** Progress of an invoice that waits for money; a lower value is a step back. */
const PROGRESS: Partial<Record<InvoiceStatus, number>> = { pending: 0, partial: 1, confirming: 2 }

/**
 * Announces the payments of a newly folded ledger and moves the invoice to the status that follows from its sums. Skipped states
 * emit no event. Order: late notices and detections, the waiting state entered, confirmations, the paid state entered.
 * A step back leads to `expired` when the deadline is not after `knownUntil`; otherwise the deadline is checked later.
 */
export function settle(folded: InvoiceState, at: Ms, knownUntil: Ms = at): Draft {
  const { state, observations, confirmations } = announcePayments(folded)
  const next = statusBySums(state, knownUntil)
  const entered = enter(withPaidLate(state), next, at)
  const ordered = isSettled(entered.state)
    ? [...observations, ...confirmations, ...entered.effects]
    : [...observations, ...entered.effects, ...confirmations]
  return { state: entered.state, effects: ordered }
}

/**
 * Puts an invoice into a status and announces it when it was in another one. Staying in `partial` is announced only when
 * the sum of listed payments rises above every sum announced before.
 */
export function enter(state: InvoiceState, next: InvoiceStatus, at: Ms): Draft {
  if (next === 'new') return { state, effects: [] }
  const { announceableBase } = totals(state)
  const moved = next !== state.status
  const grown = next === 'partial' && announceableBase > state.partialAnnouncedBase
  const paidNow = moved && (next === 'paid' || next === 'overpaid')
  const entered: InvoiceState = {
    ...(next === 'pending' || next === 'partial' ? state : withoutWatchPlaces(state)),
    status: next,
    paidAt: paidNow ? (state.paidAt ?? at) : state.paidAt,
    // A payment that vanishes after the invoice was paid does not make it underpaid.
    underpaidAccepted: next === 'paid' && (paidNow || state.underpaidAccepted) && settlement(state, 'settled').isShort,
    partialAnnouncedBase: grown ? announceableBase : state.partialAnnouncedBase,
    confirmingSince: next === 'confirming' ? (moved ? at : state.confirmingSince) : null,
  }
  const announced = moved || grown
  return { state: entered, effects: announced ? [{ kind: 'event', type: ENTRY_EVENT[next], payment: null }] : [] }
}

/** For good: later money may open the invoice again, and by then the places may be another visitor's. */
function withoutWatchPlaces(state: InvoiceState): InvoiceState {
  const paymentMethods = state.paymentMethods.map((paymentMethod) =>
    paymentMethod.watchPlaces === undefined ? paymentMethod : { ...paymentMethod, watchPlaces: [] },
  )
  return { ...state, paymentMethods }
}

/**
 * The status that follows from the sums of a folded ledger. A step back leads to `expired` when the deadline is not after `knownUntil`.
 * Repeating it on its own result changes nothing.
 */
export function statusBySums(state: InvoiceState, knownUntil: Ms): InvoiceStatus {
  const { status } = state
  if (status === 'new' || status === 'cancelled' || status === 'overpaid') return status
  const settled = settlement(state, 'settled')
  const paid = settled.isTooMuch ? 'overpaid' : 'paid'
  if (status === 'paid' || settled.isEnough) return paid
  if (settlement(state, 'seen').isEnough) return 'confirming'
  if (status === 'expired') return 'expired'
  const waiting = totals(state).onTimeBase > 0n ? 'partial' : 'pending'
  const steppedBack = (PROGRESS[waiting] ?? 0) < (PROGRESS[status] ?? 0)
  return steppedBack && knownUntil >= state.expiresAt ? 'expired' : waiting
}

/** Late money marks the invoice until it is paid, unless the payments in time would have been enough; then the mark is unchanged. */
function withPaidLate(state: InvoiceState): InvoiceState {
  if (isSettled(state)) return state
  const late = state.ledger.some((row) => row.counted && row.late && isLive(row))
  return { ...state, paidLate: late && !settlement(state, 'onTime').isEnough }
}

/** Payment events of one change, split so that the invoice's own event can stand between them. */
interface Announcements {
  readonly state: InvoiceState
  /** Late notices and detections: before `invoice.partial` and `invoice.confirming`. */
  readonly observations: readonly Effect[]
  /** Confirmations: after those, and before `invoice.paid` and `invoice.overpaid`. */
  readonly confirmations: readonly Effect[]
}

/**
 * Announces each counted payment's detection and confirmation at most once, and its lateness once while the invoice
 * still waits for money. Payments that count by an operator's decision were attached without events.
 */
function announcePayments(state: InvoiceState): Announcements {
  const observations: Effect[] = []
  const confirmations: Effect[] = []
  const waiting = !isSettled(state) && state.status !== 'cancelled'
  const ledger = state.ledger.map((row): LedgerRow => {
    if (!row.counted || !isLive(row) || row.acceptedBase !== null) return row
    const { payment } = row
    const lateNow = waiting && row.late && !row.lateAnnounced
    const confirmedNow = row.state === 'confirmed' && !row.confirmed
    if (lateNow) observations.push({ kind: 'event', type: 'invoice.late_payment', payment })
    if (!row.detected) observations.push({ kind: 'event', type: 'payment.detected', payment })
    if (confirmedNow) confirmations.push({ kind: 'event', type: 'payment.confirmed', payment })
    return {
      ...row,
      lateAnnounced: row.lateAnnounced || lateNow,
      detected: true,
      confirmed: row.confirmed || confirmedNow,
    }
  })
  return { state: { ...state, ledger }, observations, confirmations }
}
