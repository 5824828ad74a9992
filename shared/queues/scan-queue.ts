/**
 * Queue `scan`
 *   producer         processes that learn of changes of a network before its next poll
 *   consumer         service `scanner`; only the holder of the network's lease scans
 *   payload          `{ id }` = `<mode>-<network>`
 *   idempotency key  the network: one wake-up waits and one runs
 *   ordering         none here; blocks are taken in order by the cursor in the store
 *   retry class      none; the cursor did not move, so the next poll repeats the scan
 *   a lost job costs one poll interval; so does one that a process of another network took
 */
import { QUEUES } from '#shared/ports/runtime.ts'
import type { QueueWorker, StartWorker } from './queue-worker-options.ts'

/** Scan loops poll on their own schedule; the sweep of this queue has nothing to find. */
const SWEEP_EVERY_MS = 60_000

/** Shortens the pause of a scan loop when there is news. */
export function createScanWorker(
  startWorker: StartWorker,
  work: {
    /** Makes the loop of `<mode>-<network>` poll now; unknown networks are ignored. */
    wake(id: string): void
  },
): QueueWorker {
  return startWorker({
    queue: QUEUES.scan,
    concurrency: 1,
    handle: (id) => {
      work.wake(id)
      return Promise.resolve()
    },
    sweep: () => Promise.resolve([]),
    sweepEveryMs: SWEEP_EVERY_MS,
  })
}
