import { type WarnEndpointsBehindDeps, warnEndpointsBehind } from '#shared/usecases/deliveries/warn-endpoints-behind.ts'
import type { ScheduledJob } from './scheduled-job.ts'

/** Mails owners whose endpoints are behind because of their own speed. A second process does no harm: a mail's id is derived from the episode. */
export function endpointsBehindJob(deps: WarnEndpointsBehindDeps): ScheduledJob {
  return {
    id: 'endpoints-behind',
    leaseMs: 150_000,
    pauseMs: 60_000,
    failures: 'maintenance_failed_total',
    failed: 'mails about endpoints that are behind failed',
    round: () => warnEndpointsBehind(deps).then(() => undefined),
  }
}
