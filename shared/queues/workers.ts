import { OUTBOX_SHARDS } from '#shared/ports/invoices.ts'
import { QUEUES } from '#shared/ports/runtime.ts'
import type { QueueWorkerOptions } from './queue-worker-options.ts'

/** How often each queue asks the store for work without a wake-up: a lost one costs at most this. */
const SWEEP_EVERY_MS = 1_000

/**
 * How the worker of each queue runs; the service that consumes a queue adds `handle` and `sweep`. No queue has its own retry class: what
 * is still to be done is in the store, and the sweep finds it.
 */
export const WORKERS = {
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
  invoiceTransitions: { queue: QUEUES.invoiceTransitions, concurrency: 16, sweepEveryMs: SWEEP_EVERY_MS },
  /**
   * Queue `outbox`
   *   producer         everything that creates or changes an invoice, and the sweep
   *   consumer         the one process of service `webhooks` that holds the relay's lease, which makes the first attempts of what it relays
   *   payload          `{ id, others }` = `shard-<n>`, n from 0 to 7, and shards that were woken together with it
   *   idempotency key  the shards: one job of the same ones waits, in all processes together; it ends when its round was requested
   *   ordering         entries of one invoice are relayed in order of their sequence number
   *   retry class      none in the queue; the sweep queues a failed or lost job again
   *   a lost job costs one sweep interval (1 s), and all of them together up to 6 s when the process that consumes them is killed
   */
  outbox: { queue: QUEUES.outbox, concurrency: OUTBOX_SHARDS, endsAtOnce: true, sweepEveryMs: SWEEP_EVERY_MS },
  /**
   * Queues `webhooks` and `webhooks-slow`, each with its own sweep
   *   producer         resends, recoveries, retries, a relay or dispatcher that leaves due rows behind, and the sweep
   *   consumer         service `webhooks`; endpoints with time-outs have their own queue, so they use separate slots
   *   payload          `{ id }`, a webhook endpoint id: the job is the endpoint, never the delivery
   *   idempotency key  the endpoint: one job of it waits and one runs, in all processes together
   *   ordering         none; rows are claimed oldest due first
   *   retry class      none in the queue; a delivery's next attempt is its due time in the store
   *   a lost job costs one sweep interval (1 s); a killed dispatcher's rows are claimed again when their lease ends
   */
  webhooks: { queue: QUEUES.webhooks, sweepEveryMs: SWEEP_EVERY_MS },
  webhooksSlow: { queue: QUEUES.webhooksSlow, sweepEveryMs: SWEEP_EVERY_MS },
  /**
   * Queue `scan`
   *   producer         processes that learn of changes of a network before its next poll
   *   consumer         service `scanner`; only the holder of the network's lease scans
   *   payload          `{ id }` = `<mode>-<network>`
   *   idempotency key  the network: one wake-up waits and one runs
   *   ordering         none here; blocks are taken in order by the cursor in the store
   *   retry class      none; the cursor did not move, so the next poll repeats the scan
   *   a lost job costs one poll interval; so does one that a process of another network took
   *
   * Scan loops poll on their own schedule: the sweep has nothing to find.
   */
  scan: { queue: QUEUES.scan, concurrency: 1, sweep: () => Promise.resolve([]), sweepEveryMs: 60_000 },
  /**
   * Queue `mail`
   *   producer         use cases that queue a mail, and the sweep
   *   consumer         service `mailer`, over as many connections to the mail server
   *   payload          `{ id }`, a mail id
   *   idempotency key  the mail: one job of it waits and one runs, in all processes together; the claim in the store is the guard
   *   ordering         none
   *   retry class      none in the queue; the next attempt of a mail is its due time in the store
   *   a lost job costs one sweep interval (1 s); a killed mailer's mail is claimed again when its lease ends (60 s)
   */
  mail: { queue: QUEUES.mail, concurrency: 4, sweepEveryMs: SWEEP_EVERY_MS },
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
  recoveries: { queue: QUEUES.recoveries, concurrency: 2, sweepEveryMs: SWEEP_EVERY_MS },
} as const satisfies Record<keyof typeof QUEUES, Partial<QueueWorkerOptions>>
