import type { AdvanceFailures } from '#shared/db/invoices/advance-failures.ts'
import type { Ms } from '#shared/domain/invoice/model.ts'
import type { ExceptionRecord } from '#shared/ports/exceptions.ts'
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

const FIRST_PAUSE_MS = 2_000
const PAUSE_MAX_MS = 600_000
/** Failures in a row before an operator is notified: about half an hour. */
const FAILURES_MAX = 10

/** Dependencies of advancing with back-off. */
type BackOffDeps = AdvanceDeps &
  Uses<'exceptions'> & {
    readonly failures: AdvanceFailures
  }

/** Two seconds, doubled with each failure in a row, at most ten minutes. */
export const pauseAfter = (failures: number): Ms =>
  Math.min(PAUSE_MAX_MS, FIRST_PAUSE_MS * 2 ** Math.min(failures - 1, 20))

/**
 * Invoices that stay due after advancing, or cannot be advanced at all, are retried less and less often, across all
 * processes. After ten failures in a row an exception opens; it closes when the invoice is brought up to date.
 */
export function createInvoiceAdvancer(deps: BackOffDeps) {
  const turns: DeadlineTurns = new Map()
  let recorded: ReadonlySet<string> = new Set()
  return {
    /** As `advanceInvoice`, without back-off: new payments never wait. Throws the errors of `advanceInvoice`. */
    advance: async (invoiceId: string): Promise<void> => {
      try {
        if (!(await advanceInvoice(deps, invoiceId))) return await fail(deps, invoiceId, 'it stays due')
      } catch (error) {
        // If this fails too, the store is down, and the sweep will try again at once.
        await fail(deps, invoiceId, 'it failed').catch(() => undefined)
        throw error
      }
      if (recorded.has(invoiceId)) await recover(deps, invoiceId)
    },

    /** Ids that the sweep found overdue, without those that failed too recently. */
    overdue: async (): Promise<readonly string[]> => {
      const found = await overdueInvoices(deps, turns)
      // Nothing is due in most sweeps, and then nothing is read; `advance` keeps using what was recorded last.
      if (found.length === 0) return found
      const [known, pausing] = await Promise.all([deps.failures.list(), deps.failures.pausing(found, deps.clock.now())])
      recorded = known
      return found.filter((id) => !pausing.has(id))
    },
  }
}

async function fail(deps: BackOffDeps, invoiceId: string, reason: string): Promise<void> {
  const at = deps.clock.now()
  const { failures, owner } = await deps.failures.note(invoiceId, at, pauseAfter)
  deps.logger.warn({ invoiceId, attempt: failures, reason }, 'an invoice could not be brought up to date')
  if (failures < FAILURES_MAX) return
  const entry: ExceptionRecord = {
    ...{ id: blockedId(invoiceId), kind: 'invoice_blocked', invoiceId, paymentKey: null, openedAt: at, closedAt: null },
    ...{ workspaceId: owner?.workspaceId ?? null, mode: owner?.mode ?? null },
    detail: `This invoice could not be updated in ${FAILURES_MAX} attempts: its deadline or a payment is not applied yet. It is tried again every ten minutes.`,
  }
  // Later failures only retry an exception that could not be opened: one that a person closed stays closed until the invoice fails again.
  if (failures > FAILURES_MAX) return await deps.exceptions.openOnce([entry])
  deps.metrics.count('invoice_blocked_total')
  await deps.exceptions.report(entry)
}

async function recover(deps: BackOffDeps, invoiceId: string): Promise<void> {
  const failures = await deps.failures.forget(invoiceId)
  if (failures >= FAILURES_MAX) await deps.exceptions.close([blockedId(invoiceId)], deps.clock.now())
}

const blockedId = (invoiceId: string): string => `invoice_blocked:${invoiceId}`
