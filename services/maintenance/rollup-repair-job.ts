import type { Rollups } from '#shared/ports/rollups.ts'
import type { Runtime } from '#shared/ports/runtime.ts'
import type { ScheduledJob } from './scheduled-job.ts'

/** A round ends well before the lease does. */
const PART_MS = 300_000

/** Compares the figures of the overview with a full count once an hour; a week compares all of them. */
export function rollupRepairJob(deps: Runtime & { readonly rollups: Pick<Rollups, 'repair'> }): ScheduledJob {
  return {
    id: 'rollups-repair',
    leaseMs: 900_000,
    pauseMs: 3_600_000,
    pauseAfterFailureMs: 60_000,
    failures: 'rollups_repair_failed_total',
    failed: 'figures of the overview could not be compared with the invoices',
    round: async (signal) => {
      const begun = performance.now()
      const stop = () => signal.aborted || performance.now() - begun > PART_MS
      for (const { of, ownerId, mode, at } of await deps.rollups.repair(deps.clock.now(), { stop })) {
        deps.metrics.count('rollups_repaired_total')
        deps.logger.warn({ of, ownerId, mode, at }, 'a figure of the overview was wrong')
      }
    },
  }
}
