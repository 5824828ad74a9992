import type { ExceptionKind } from '../enumerations.ts'
import type { Effect } from './invoice-event.ts'
import type { InvoiceState, LedgerRow, OpenException, UncountedReason } from './model.ts'
import { isLive, isSettled, totals } from './totals.ts'

const KIND_OF: Readonly<Record<UncountedReason, ExceptionKind | null>> = {
  wrong_asset: 'wrong_asset',
  wrong_network: 'wrong_network',
  inactive_payment_method: 'wrong_asset',
  out_of_quote: 'out_of_quote',
  unmatched: 'unmatched',
  // Dust is sent to addresses to spam or to trace them: a list full of it would hide real money.
  dust: null,
}

const REFUND_UNCOVERED: OpenException = { exception: 'refund_uncovered', payment: null }

/** Whether the exception about refunds that confirmed money no longer covers is open. */
export function hasUncoveredRefund(state: InvoiceState): boolean {
  return includes(state.exceptions, REFUND_UNCOVERED)
}

/** Rows after which further payments are only summed. */
const ROWS_FULL = 100

/**
 * Computes which exceptions an invoice needs open, from its current state, its state when it was read, the effects in between, and whether
 * its refunds claim more than was received. Each is opened once, and closed automatically when its reason no longer applies.
 */
export function reconcileExceptions(
  before: InvoiceState,
  after: InvoiceState,
  isUncovered: boolean,
): { exceptions: readonly OpenException[]; effects: readonly Effect[] } {
  const uncovered = isUncovered ? [REFUND_UNCOVERED] : []
  const wanted = [...ofInvoice(after), ...uncovered, ...after.ledger.flatMap((row) => ofPayment(before, after, row))]
  const closed = before.exceptions.filter((open) => !includes(wanted, open))
  const opened = wanted.filter((open) => !includes(before.exceptions, open))
  const effects: Effect[] = [
    ...closed.map((open): Effect => ({ kind: 'exception_closed', ...open })),
    ...opened.map((open): Effect => ({ kind: 'exception', ...open })),
    ...opened
      .filter((open) => open.exception === 'reorged')
      .map((open): Effect => ({ kind: 'mail', template: 'payment_reorged', payment: open.payment })),
  ]
  return { exceptions: wanted, effects }
}

function ofInvoice(after: InvoiceState): readonly OpenException[] {
  const kinds: ExceptionKind[] = []
  if (after.status === 'expired' && totals(after).onTimeBase > 0n) kinds.push('partial')
  if (after.status === 'overpaid') kinds.push('over')
  if (after.status === 'confirming' && includes(after.exceptions, { exception: 'stuck', payment: null })) {
    kinds.push('stuck')
  }
  if (after.others !== null && after.ledger.length >= ROWS_FULL) kinds.push('many_payments')
  return kinds.map((exception) => ({ exception, payment: null }))
}

function ofPayment(before: InvoiceState, after: InvoiceState, row: LedgerRow): readonly OpenException[] {
  const kind = isLive(row) ? ofLive(before, after, row) : ofGone(before, after, row)
  return kind === null ? [] : [{ exception: kind, payment: row.payment }]
}

function ofLive(before: InvoiceState, after: InvoiceState, row: LedgerRow): ExceptionKind | null {
  if (row.uncountedReason !== null) return KIND_OF[row.uncountedReason]
  if (after.status === 'cancelled') return 'cancelled_paid'
  if (row.late && row.countedByHand !== true && (!row.eligible || after.status === 'expired')) return 'late'
  if (after.status !== 'overpaid') return null
  const known = before.ledger.some((other) => other.payment === row.payment)
  const more = before.status === 'overpaid' && !known && row.eligible
  return more || includes(before.exceptions, { exception: 'over', payment: row.payment }) ? 'over' : null
}

/** Money that settled the invoice and then vanished. Money that vanished before the invoice was paid is not a loss. */
function ofGone(before: InvoiceState, after: InvoiceState, row: LedgerRow): ExceptionKind | null {
  if (!isSettled(after) || !row.counted || !row.eligible || !row.confirmed) return null
  const last = before.ledger.find((other) => other.payment === row.payment)
  const vanished = isSettled(before) && last !== undefined && isLive(last)
  return vanished || includes(before.exceptions, { exception: 'reorged', payment: row.payment }) ? 'reorged' : null
}

function includes(list: readonly OpenException[], one: OpenException): boolean {
  return list.some((open) => open.exception === one.exception && open.payment === one.payment)
}
