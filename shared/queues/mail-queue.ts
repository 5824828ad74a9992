/**
 * Queue `mail`
 *   producer         whoever queued a mail, and the sweep
 *   consumer         service `mailer`
 *   payload          `{ id }`, a mail id
 *   idempotency key  the mail: one job of it waits and one runs, in all processes together; the claim in the store is the guard
 *   ordering         none
 *   retry class      none in the queue; a mail's next try is its due time in the store
 *   a lost job costs one sweep interval (1 s); a killed mailer's mail comes back with its lease (60 s)
 */
import { type Ambient, QUEUES } from '#shared/ports/runtime.ts'
import type { RedisConnections } from './connection.ts'
import { createQueueWorker, type QueueWorker } from './worker.ts'

/** Conversations with the mail server at the same time. */
const CONCURRENCY = 4

/** Sends mails, a few at a time. */
export function createMailWorker(
  redis: RedisConnections,
  ambient: Ambient,
  work: {
    /** Tries the mail if it is due; safe to repeat and to run twice at once. */
    send(mailId: string): Promise<unknown>
    /** Mails that nobody was woken up for. */
    overdue(): Promise<readonly string[]>
  },
): QueueWorker {
  return createQueueWorker(redis, ambient, {
    queue: QUEUES.mail,
    concurrency: CONCURRENCY,
    handle: (mailId) => work.send(mailId),
    sweep: () => work.overdue(),
    sweepEveryMs: 1_000,
  })
}
