import { type NotifyOperatorsDeps, notifyOperators } from '#shared/usecases/notices/notify-operators.ts'
import type { ScheduledJob } from './scheduled-job.ts'

/** Mails the operators of the installation about problems that began and ended, each minute. A second process does no harm: ids of mails are derived. */
export function operatorNoticesJob(deps: NotifyOperatorsDeps): ScheduledJob {
  return {
    id: 'operator-notices',
    leaseMs: 150_000,
    pauseMs: 60_000,
    failures: 'maintenance_failed_total',
    failed: 'problems of the installation could not be mailed to its operators',
    round: () => notifyOperators(deps),
  }
}
