import type { AdvanceFailures } from '#shared/db/invoices/advance-failures.ts'
import type { Ms } from '#shared/domain/invoice/model.ts'
import type { ExceptionRecord } from '#shared/ports/exceptions.ts'
import type { Uses } from '#shared/usecases/uses.ts'
import { type AdvanceDeps, advanceInvoice, overdueInvoices } from './advance-invoice.ts'
import type { DeadlineTurns } from './deadlines.ts'

const FIRST_PAUSE_MS = 2_000
const PAUSE_MAX_MS = 600_000
/** Failures in a row before an operator is notified: about half an hour. */
const FAILURES_MAX = 10

/** Dependencies of advancing with back-off. */
export type BackOffDeps = AdvanceDeps &
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
