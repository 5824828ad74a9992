import { type DigestDeps, sendDigests } from '#shared/usecases/exceptions/send-digests.ts'
import type { ScheduledJob } from './scheduled-job.ts'

/** Mails what waits in each inbox once a day. A second process does no harm: a mail's id is made of workspace and day. */
export function digestJob(deps: DigestDeps): ScheduledJob {
  return {
    id: 'operators-desk',
    leaseMs: 150_000,
    pauseMs: 60_000,
    failures: 'operators_desk_failed_total',
    failed: 'daily mails about open exceptions failed',
    round: () => sendDigests(deps).then(() => undefined),
  }
}
