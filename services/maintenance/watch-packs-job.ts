import type { Logger, Metrics } from '#shared/ports/runtime.ts'
import { type PackWatchesDeps, packWatches } from '#shared/usecases/watches/pack-watches.ts'
import type { ScheduledJob } from './scheduled-job.ts'

/** A run ends well before the lease does, and the next one continues there. */
const RUN_MS = 300_000

/** Moves addresses whose late-watch time is over out of the memory of scanners. */
export function watchPacksJob(
  deps: PackWatchesDeps & { readonly logger: Logger; readonly metrics: Metrics },
): ScheduledJob {
  const places = new Map<string, string>()
  return {
    id: 'watch-packs',
    leaseMs: 900_000,
    // Each run reads every hot address once.
    pauseMs: 6 * 3_600_000,
    pauseAfterFailureMs: 600_000,
    failures: 'watch_packs_failed_total',
    failed: 'watched addresses were not packed',
    round: async (signal) => {
      const endsAt = performance.now() + RUN_MS
      const moved = await packWatches(deps, places, () => signal.aborted || performance.now() > endsAt)
      if (moved === 0) return
      deps.metrics.count('watches_packed_total', {}, moved)
      deps.logger.info({ moved }, 'addresses whose late-watch time is over were packed')
    },
  }
}
