/**
 * Queue `mail`
 *   producer         use cases that queue a mail, and the sweep
 *   consumer         service `mailer`
 *   payload          `{ id }`, a mail id
 *   idempotency key  the mail: one job of it waits and one runs, in all processes together; the claim in the store is the guard
 *   ordering         none
 *   retry class      none in the queue; the next attempt of a mail is its due time in the store
 *   a lost job costs one sweep interval (1 s); a killed mailer's mail is claimed again when its lease ends (60 s)
 */
import { QUEUES } from '#shared/ports/runtime.ts'
import type { QueueWorker, StartWorker } from './queue-worker-options.ts'

/** Concurrent connections to the mail server. */
const CONCURRENCY = 4

/** Sends mails, a few at a time. */
export function createMailWorker(
  startWorker: StartWorker,
  work: {
    /** Tries the mail if it is due; safe to repeat and to run twice at once. */
    send(mailId: string): Promise<unknown>
    /** Mails without a wake-up. */
    overdue(): Promise<readonly string[]>
  },
): QueueWorker {
  return startWorker({
    queue: QUEUES.mail,
    concurrency: CONCURRENCY,
    handle: (mailId) => work.send(mailId),
    sweep: () => work.overdue(),
    sweepEveryMs: 1_000,
  })
}
