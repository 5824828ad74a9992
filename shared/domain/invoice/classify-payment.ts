import type { PaymentObservation } from './invoice-event.ts'
import type { InvoiceState, LedgerRow, PaymentMethod } from './model.ts'
import { quoteOpenedBy, withinDrift } from './quote-window.ts'
import { isSettled } from './totals.ts'

/**
 * The ledger row of a payment at this observation, before it is decided whether it counts. Lateness is checked when the
 * payment is first applied and is then permanent, with two exceptions: a payment seen in time in the mempool must
 * also be mined in time, so an unconfirmed row becomes late otherwise; so does one that returns after another payer got the use of the link.
 */
export function classifyPayment(
  state: InvoiceState,
  paymentMethod: PaymentMethod | null,
  seen: PaymentObservation,
  known: LedgerRow | undefined,
): LedgerRow {
  if (known === undefined) return firstEvaluation(state, paymentMethod, seen)
  const row = { ...known, version: seen.version, state: seen.state }
  const minedLate = seen.minedTooLate && !seen.simulated && !known.late && known.state !== 'confirmed'
  const isUseGone = paymentMethod?.policy.isUseGone === true
  if (!(minedLate || isUseGone) || isSettled(state)) return row
  return { ...row, late: true, eligible: known.acceptedBase !== null || known.countedByHand === true }
}

function firstEvaluation(
  state: InvoiceState,
  paymentMethod: PaymentMethod | null,
  seen: PaymentObservation,
): LedgerRow {
  const late = isLate(state, paymentMethod, seen)
  return {
    payment: seen.payment,
    version: seen.version,
    state: seen.state,
    amountBase: seen.amountBase,
    firstSeenAt: seen.firstSeenAt,
    counted: false,
    uncountedReason: null,
    acceptedBase: null,
    late,
    rateSeen: seen.rateSeen,
    eligible: paymentMethod !== null && (!late || maySettleLate(state, paymentMethod, seen)),
    simulated: seen.simulated,
    detected: false,
    confirmed: false,
    lateAnnounced: false,
  }
}

/**
 * First seen after the deadline, or in time but mined too long after it. Processing time is irrelevant, unless another payer got the
 * invoice's use of its payment link meanwhile. A simulated payment is late only if it was simulated on an expired invoice.
 */
export function isLate(
  state: Pick<InvoiceState, 'expiresAt' | 'status'>,
  paymentMethod: PaymentMethod | null,
  seen: PaymentObservation,
): boolean {
  if (paymentMethod?.policy.isUseGone === true) return true
  if (seen.simulated && state.status !== 'expired') return false
  return seen.firstSeenAt > state.expiresAt || seen.minedTooLate
}

function maySettleLate(state: InvoiceState, paymentMethod: PaymentMethod, seen: PaymentObservation): boolean {
  if (paymentMethod.policy.isUseGone === true || seen.minedTooLate) return false
  if (seen.firstSeenAt > state.expiresAt + paymentMethod.policy.lateGraceMs) return false
  return withinDrift(quoteOpenedBy(paymentMethod, seen.firstSeenAt), seen.rateSeen, paymentMethod)
}
