/**
 * Queue `invoice-transitions`
 *   producer         scanners after storing payments, simulation, and the sweep
 *   consumer         service `invoices`
 *   payload          `{ id }`, an invoice id
 *   idempotency key  the invoice id: a waiting job absorbs kicks, a running one runs once more
 *   ordering         none; each run folds whatever is stored
 *   retry class      none in the queue; a failed or lost job comes back by the sweep
 *   a lost job costs one sweep interval (1 s)
 */
import { type Ambient, QUEUES } from '#shared/ports/runtime.ts'
import type { RedisConnections } from './connection.ts'
import { createQueueWorker, type QueueWorker } from './worker.ts'

/** Applies stored payments and due deadlines to invoices, 16 at a time. */
export function createInvoiceTransitionsWorker(
  redis: RedisConnections,
  ambient: Ambient,
  work: {
    /** Folds and decides one invoice; safe to repeat. */
    advance(invoiceId: string): Promise<unknown>
    /** Invoices with unapplied payments or a due deadline that nobody woke up for. */
    overdue(): Promise<readonly string[]>
  },
): QueueWorker {
  return createQueueWorker(redis, ambient, {
    queue: QUEUES.invoiceTransitions,
    concurrency: 16,
    handle: (invoiceId) => work.advance(invoiceId),
    sweep: () => work.overdue(),
    sweepEveryMs: 1_000,
  })
}
