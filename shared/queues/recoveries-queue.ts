/**
 * Queue `recoveries`
 *   producer         requests for a recovery, a finished turn, and the sweep
 *   consumer         service `maintenance`
 *   payload          `{ id }`, a recovery id
 *   idempotency key  the recovery: one job of it waits and one runs, in all processes together; the claim in the store is the guard
 *   ordering         events of a recovery are taken oldest first
 *   retry class      none in the queue; an unclaimed recovery is due in the store
 *   a lost job costs one sweep interval (1 s); a killed worker's recovery is claimed again when its lease ends (30 s)
 */
import { QUEUES } from '#shared/ports/runtime.ts'
import type { QueueWorker, StartWorker } from './queue-worker-options.ts'

/** Recoveries that one process works on at the same time. */
const CONCURRENCY = 2

/** Runs recoveries, turn by turn. */
export function createRecoveriesWorker(
  startWorker: StartWorker,
  work: {
    /** One turn; safe to repeat and to run twice at once. */
    carryOut(recoveryId: string): Promise<unknown>
    overdue(): Promise<readonly string[]>
  },
): QueueWorker {
  return startWorker({
    queue: QUEUES.recoveries,
    concurrency: CONCURRENCY,
    handle: (recoveryId) => work.carryOut(recoveryId),
    sweep: () => work.overdue(),
    sweepEveryMs: 1_000,
  })
}
