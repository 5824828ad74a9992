/**
 * Queue `scan`
 *   producer         whoever knows that a network has news before its next poll
 *   consumer         service `scanner`; only the holder of the network's lease scans
 *   payload          `{ id }` = `<mode>-<network>`
 *   idempotency key  the network: one wake-up waits and one runs
 *   ordering         none here; blocks are taken in order by the cursor in the store
 *   retry class      none; the cursor did not move, so the next look repeats
 *   a lost job costs one poll interval; so does one that a process of another network took
 */
import { type Ambient, QUEUES } from '#shared/ports/runtime.ts'
import type { RedisConnections } from './connection.ts'
import { createQueueWorker, type QueueWorker } from './worker.ts'

/** Scan loops look by themselves all the time; the sweep of this queue has nothing to find. */
const SWEEP_EVERY_MS = 60_000

/** Shortens the pause of a scan loop when somebody knows of news. */
export function createScanWorker(
  redis: RedisConnections,
  ambient: Ambient,
  work: {
    /** Makes the loop of `<mode>-<network>` look now; unknown networks are ignored. */
    wake(id: string): void
  },
): QueueWorker {
  return createQueueWorker(redis, ambient, {
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
