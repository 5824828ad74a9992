import { type DigestDeps, sendDigests } from '#shared/usecases/exceptions/send-digests.ts'
import type { ScheduledJob } from './scheduled-job.ts'

/** Mails open exceptions to each workspace once a day. A second process does no harm: a mail's id is derived from workspace and day. */
export function digestJob(deps: DigestDeps): ScheduledJob {
  return {
    id: 'digests',
    leaseMs: 150_000,
    pauseMs: 60_000,
    failures: 'maintenance_failed_total',
    failed: 'daily mails about open exceptions failed',
    round: () => sendDigests(deps).then(() => undefined),
  }
}
