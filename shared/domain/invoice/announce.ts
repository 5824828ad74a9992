import type { Effect } from './invoice-event.ts'
import type { InvoiceState, LedgerRow } from './model.ts'
import { isLive, isSettled } from './totals.ts'

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
export function announcePayments(state: InvoiceState): Announcements {
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
