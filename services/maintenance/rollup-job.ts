import type { Repositories } from '#shared/db/create-repositories.ts'
import type { Runtime } from '#shared/ports/runtime.ts'
import type { ScheduledJob } from './scheduled-job.ts'

/** A round ends well before the lease does. The next one goes on from there. */
const PART_MS = 120_000
const PAUSE_MIN_MS = 5_000
/** Rounds take at most a twentieth of the time, so that counting never competes with what is counted. */
const PAUSE_PER_ROUND = 20

/**
 * Keeps the figures of the overview up to date. A change is counted in the next round, 5 s to a minute later, and in an hour of many
 * invoices no sooner than 3 ms for each of them after its last count. Pages say as of when figures are once that is long ago.
 */
export function rollupJob(deps: Runtime & Pick<Repositories, 'rollups'>): ScheduledJob {
  let nextAt = Number.NEGATIVE_INFINITY
  return {
    id: 'rollups',
    leaseMs: 600_000,
    pauseMs: PAUSE_MIN_MS,
    pauseAfterFailureMs: 60_000,
    failures: 'rollups_failed_total',
    failed: 'figures of the overview could not be counted',
    round: async (signal) => {
      const begun = performance.now()
      if (begun < nextAt) return
      const stop = () => signal.aborted || performance.now() - begun > PART_MS
      const report = (line: string) => deps.logger.info({ progress: line }, 'figures of the overview are being counted')
      const counted = await deps.rollups.catchUp(deps.clock.now(), { stop, report })
      deps.metrics.count('rollups_counted_total', {}, counted)
      const tookMs = performance.now() - begun
      nextAt = tookMs > PART_MS ? begun : performance.now() + Math.min(tookMs * PAUSE_PER_ROUND, 60_000)
    },
  }
}
