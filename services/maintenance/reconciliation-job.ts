import { setTimeout as wait } from 'node:timers/promises'
import type { Runtime } from '#shared/ports/runtime.ts'
import { continueReconciliation, type ReconcileDeps } from '#shared/usecases/reconciliation/reconcile.ts'
import { INVARIANTS } from '#shared/usecases/reconciliation/violation.ts'
import type { ScheduledJob } from './scheduled-job.ts'

/** A part of a round ends well before the lease does. The round continues in the next part. */
const PART_MS = 300_000

interface JobDeps extends Omit<ReconcileDeps, 'pause'>, Runtime {}

/** Compares invoices with their payments and events once an hour. A second process would only count violations twice. */
export function reconciliationJob(deps: JobDeps): ScheduledJob {
  // From the start, so that the first violation is visible as an increase.
  for (const invariant of INVARIANTS) deps.metrics.count('invariant_violation_total', { invariant }, 0)
  return {
    id: 'reconciliation',
    leaseMs: 900_000,
    // Checking whether a round is due is one small query.
    pauseMs: 60_000,
    // Longer than a part, a pause and one slow batch together.
    silenceMaxMs: 900_000,
    failures: 'reconciliation_failed_total',
    failed: 'invoices could not be compared with their payments and events',
    round: async (signal, pulse) => {
      const pause = (ms: number) => wait(ms, undefined, { signal }).catch(() => undefined)
      const endsAt = performance.now() + PART_MS
      const report = await continueReconciliation({ ...deps, pause }, () => {
        pulse?.beat()
        return signal.aborted || performance.now() > endsAt
      })
      if (report === null) return
      deps.logger.info({ checked: report.evaluated, violations: report.violations.length }, 'invoices were reconciled')
    },
  }
}
