/**
 * Queue `recoveries`
 *   producer         whoever asked for a recovery, a turn that is over, and the sweep
 *   consumer         service `outbox`
 *   payload          `{ id }`, a recovery id
 *   idempotency key  the recovery: one job of it waits and one runs, in all processes together; the claim in the store is the guard
 *   ordering         events of a recovery are taken oldest first
 *   retry class      none in the queue; a recovery that nobody works on is due in the store
 *   a lost job costs one sweep interval (1 s); a killed worker's recovery comes back with its lease (30 s)
 */
import { type Ambient, QUEUES } from '#shared/ports/runtime.ts'
import type { RedisConnections } from './connection.ts'
import { createQueueWorker, type QueueWorker } from './worker.ts'

/** Recoveries that one process works on at the same time. */
const CONCURRENCY = 2

/** Carries out recoveries, turn by turn. */
export function createRecoveriesWorker(
  redis: RedisConnections,
  ambient: Ambient,
  work: {
    /** One turn; safe to repeat and to run twice at once. */
    carryOut(recoveryId: string): Promise<unknown>
    overdue(): Promise<readonly string[]>
  },
): QueueWorker {
  return createQueueWorker(redis, ambient, {
    queue: QUEUES.recoveries,
    concurrency: CONCURRENCY,
    handle: (recoveryId) => work.carryOut(recoveryId),
    sweep: () => work.overdue(),
    sweepEveryMs: 1_000,
  })
}
