import type { Uses } from '#shared/usecases/uses.ts'
import { type ApplyDeps, applyInvoiceEvent, OutboxFull } from './apply-invoice-event.ts'
import { type DeadlineTurns, dueInvoices, isDue } from './deadlines.ts'

/** A payment version unapplied for this long got no wake-up, or its worker died. */
const DIRTY_AFTER_MS = 1_000
/** Invoices per sweep. */
const SWEEP_LIMIT = 500

/** Dependencies of advancing invoices. */
export type AdvanceDeps = ApplyDeps & Uses<'invoices' | 'payments' | 'cursors' | 'catalog'>

/**
 * Brings one invoice up to date with its stored payments and its deadlines. Safe to repeat and to run concurrently.
 * An invoice whose outbox is full is skipped; the sweep finds it again when the relay has caught up. Returns false when its
 * deadline has passed and it could not be advanced: the sweep will return it again.
 */
export async function advanceInvoice(deps: AdvanceDeps, invoiceId: string): Promise<boolean> {
  try {
    const folded = await applyInvoiceEvent(deps, { invoiceId, event: { type: 'payments_changed' }, opId: null })
    // A scanner orphans payments before it moves its cursor: right after a change the cursor may still describe a chain
    // that no longer exists. The sweep checks the deadline a moment later.
    if (folded.outcome !== 'unchanged' || !(await isDue(deps, folded.invoice.state))) return true
    const ended = await applyInvoiceEvent(deps, { invoiceId, event: { type: 'deadline_reached' }, opId: null })
    return ended.outcome === 'changed' || ended.invoice === null || !(await isDue(deps, ended.invoice.state))
  } catch (error) {
    if (!(error instanceof OutboxFull)) throw error
    deps.logger.warn({ invoiceId }, 'invoice waits for the relay')
    return true
  }
}

/**
 * Ids of invoices with unapplied payments or reached deadlines. Callers that pass the
 * same `turns` each time get all of them in turn, however many of them cannot be advanced.
 */
export async function overdueInvoices(deps: AdvanceDeps, turns?: DeadlineTurns): Promise<readonly string[]> {
  const at = deps.clock.now()
  const unapplied = { before: at - DIRTY_AFTER_MS, at, limit: SWEEP_LIMIT }
  const [dirty, due] = await Promise.all([deps.payments.takeDirtyInvoices(unapplied), dueInvoices(deps, turns)])
  return [...new Set([...dirty, ...due])]
}
