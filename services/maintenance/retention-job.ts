import type { Logger } from '#shared/ports/runtime.ts'
import { keepRetention, type RetentionDeps } from '#shared/usecases/maintenance/keep-retention.ts'
import type { ScheduledJob } from './scheduled-job.ts'

/** A run ends well before the lease does and continues in the next. */
const RUN_MS = 300_000

/** Removes documents whose retention period is over. */
export function retentionJob(deps: RetentionDeps & { readonly logger: Logger }): ScheduledJob {
  return {
    id: 'retention',
    leaseMs: 900_000,
    pauseMs: 600_000,
    failures: 'retention_failed_total',
    failed: 'documents past their retention period were not removed',
    round: async (signal) => {
      const endsAt = performance.now() + RUN_MS
      const removed = await keepRetention(deps, () => signal.aborted || performance.now() > endsAt)
      if (removed > 0) deps.logger.info({ removed }, 'documents past their retention period were removed')
    },
  }
}
