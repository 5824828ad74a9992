/**
 * Queue `invoice-transitions`
 *   producer         scanners after storing payments, simulation, and the sweep
 *   consumer         service `invoices`
 *   payload          `{ id }`, an invoice id
 *   idempotency key  the invoice id: a waiting job absorbs wake-ups, a running one runs once more
 *   ordering         none; each run folds all stored payments
 *   retry class      none in the queue; the sweep queues a failed or lost job again
 *   a lost job costs one sweep interval (1 s)
 */
import { QUEUES } from '#shared/ports/runtime.ts'
import type { QueueWorker, StartWorker } from './queue-worker-options.ts'

/** Applies stored payments and due deadlines to invoices, 16 at a time. */
export function createInvoiceTransitionsWorker(
  startWorker: StartWorker,
  work: {
    /** Folds and decides one invoice; safe to repeat. */
    advance(invoiceId: string): Promise<unknown>
    /** Invoices with unapplied payments or a due deadline that got no wake-up. */
    overdue(): Promise<readonly string[]>
  },
): QueueWorker {
  return startWorker({
    queue: QUEUES.invoiceTransitions,
    concurrency: 16,
    handle: (invoiceId) => work.advance(invoiceId),
    sweep: () => work.overdue(),
    sweepEveryMs: 1_000,
  })
}
