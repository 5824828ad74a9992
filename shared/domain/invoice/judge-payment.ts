import type { AssetLock, InvoiceState, LedgerRow, PaymentObservation } from './model.ts'
import { quoteOpenedBy, withinDrift } from './quote-window.ts'
import { isSettled } from './totals.ts'

/**
 * The ledger row of a payment at this observation, before it is known whether it counts. Lateness is judged when the
 * payment is first applied and kept for good, with one exception: on time by mempool holds only if the
 * payment is also mined in time, so an unconfirmed row turns late when it was not.
 */
export function judgePayment(
  state: InvoiceState,
  lock: AssetLock | null,
  seen: PaymentObservation,
  known: LedgerRow | undefined,
): LedgerRow {
  if (known === undefined) return firstJudgement(state, lock, seen)
  const row = { ...known, version: seen.version, state: seen.state }
  const minedLate = seen.minedTooLate && !seen.simulated && !known.late && known.state !== 'confirmed'
  if (!minedLate || isSettled(state)) return row
  return { ...row, late: true, eligible: known.acceptedBase !== null || known.countedByHand === true }
}

function firstJudgement(state: InvoiceState, lock: AssetLock | null, seen: PaymentObservation): LedgerRow {
  const late = isLate(state, seen)
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
    eligible: lock !== null && (!late || maySettleLate(state, lock, seen)),
    simulated: seen.simulated,
    detected: false,
    confirmed: false,
    lateAnnounced: false,
  }
}

/** First seen after the deadline, or in time but mined too long after it. Processing time plays no part. */
export function isLate(state: Pick<InvoiceState, 'expiresAt'>, seen: PaymentObservation): boolean {
  return !seen.simulated && (seen.firstSeenAt > state.expiresAt || seen.minedTooLate)
}

function maySettleLate(state: InvoiceState, lock: AssetLock, seen: PaymentObservation): boolean {
  if (seen.minedTooLate || seen.firstSeenAt > state.expiresAt + lock.policy.lateGraceMs) return false
  return withinDrift(quoteOpenedBy(lock, seen.firstSeenAt), seen.rateSeen, lock)
}
