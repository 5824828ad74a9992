import type { PaymentRepository } from '#shared/ports/payments.ts'
import { type ApplyDeps, applyInvoiceEvent, OutboxFull } from './apply-invoice-event.ts'
import { type DeadlineDeps, type DeadlineTurns, dueInvoices, isDue } from './deadlines.ts'

/** A payment version that nobody applied for this long was not kicked, or its worker died. */
const DIRTY_AFTER_MS = 1_000
/** Invoices per sweep. */
const SWEEP_LIMIT = 500

/** What moving invoices on needs. */
export interface AdvanceDeps extends ApplyDeps {
  readonly invoices: ApplyDeps['invoices'] & DeadlineDeps['invoices']
  readonly payments: ApplyDeps['payments'] & Pick<PaymentRepository, 'takeDirtyInvoices'>
  readonly cursors: DeadlineDeps['cursors']
  readonly catalog: ApplyDeps['catalog'] & DeadlineDeps['catalog']
}

/**
 * Brings one invoice up to date with its stored payments and its clock. Safe to repeat and to run twice at once.
 * An invoice whose outbox is full is left as it is; the sweep finds it again when the relay has caught up.
 */
export async function advanceInvoice(deps: AdvanceDeps, invoiceId: string): Promise<void> {
  try {
    const folded = await applyInvoiceEvent(deps, { invoiceId, event: { type: 'payments_changed' }, opId: null })
    // A scanner takes payments back before it moves its cursor: right after a change the cursor may still tell of a chain
    // that is gone. The sweep judges the deadline a moment later.
    if (folded.outcome !== 'unchanged' || !(await isDue(deps, folded.invoice.state))) return
    await applyInvoiceEvent(deps, { invoiceId, event: { type: 'deadline_reached' }, opId: null })
  } catch (error) {
    if (!(error instanceof OutboxFull)) throw error
    deps.logger.warn({ invoiceId }, 'invoice waits for the relay')
  }
}

/**
 * Ids of invoices that something happened to without anybody applying it: unapplied payments and reached deadlines. Who hands in
 * the same `turns` each time is told of each in turn, however many of them cannot be advanced.
 */
export async function overdueInvoices(deps: AdvanceDeps, turns?: DeadlineTurns): Promise<readonly string[]> {
  const at = deps.clock.now()
  const unapplied = { before: at - DIRTY_AFTER_MS, at, limit: SWEEP_LIMIT }
  const [dirty, due] = await Promise.all([deps.payments.takeDirtyInvoices(unapplied), dueInvoices(deps, turns)])
  return [...new Set([...dirty, ...due])]
}
