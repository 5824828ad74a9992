import type { InvoiceCounts } from '#shared/db/invoices/invoice-counts.ts'
import type { Runtime } from '#shared/ports/runtime.ts'
import type { ScheduledJob } from './scheduled-job.ts'

/** Compares the stored counts of plan limits with the invoices once an hour. */
export function countRepairJob(deps: Runtime & { readonly counts: Pick<InvoiceCounts, 'repair'> }): ScheduledJob {
  return {
    id: 'invoice-counts',
    leaseMs: 900_000,
    pauseMs: 3_600_000,
    pauseAfterFailureMs: 60_000,
    failures: 'invoice_counts_failed_total',
    failed: 'stored counts of invoices could not be compared with the invoices',
    round: async () => {
      for (const { workspaceId, mode, month, stored, right } of await deps.counts.repair(deps.clock.now())) {
        deps.metrics.count('invoice_counts_repaired_total')
        deps.logger.warn({ workspaceId, mode, month, stored, right }, 'a stored count of invoices was wrong')
      }
    },
  }
}
