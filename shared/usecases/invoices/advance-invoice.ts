import { QUEUES } from '#shared/ports/runtime.ts'
import type { Uses } from '#shared/usecases/uses.ts'
import { type ApplyDeps, applyInvoiceEvent, OutboxFull } from './apply-invoice-event.ts'
import { checkDeadline, type DeadlineTurns, dueInvoices } from './deadlines.ts'

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
    if (folded.outcome !== 'unchanged') return true
    if (folded.hasMore === true) {
      deps.notifier.notify(QUEUES.invoiceTransitions, invoiceId)
      return true
    }
    const { version } = folded.invoice.state
    const { isDue, waitsFor } = await checkDeadline(deps, folded.invoice.state)
    if (waitsFor !== null) await deps.invoices.waitForChain(invoiceId, version, waitsFor)
    if (!isDue) return true
    const event = { type: 'deadline_reached' } as const
    const ended = await applyInvoiceEvent(deps, { invoiceId, event, opId: null, checkedVersion: version })
    return (
      ended.outcome === 'changed' || ended.invoice === null || !(await checkDeadline(deps, ended.invoice.state)).isDue
    )
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
