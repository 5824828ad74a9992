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
import { OUTBOX_SHARDS } from '#shared/ports/invoices.ts'
import { QUEUES } from '#shared/ports/runtime.ts'
import type { QueueWorker, StartWorker } from './queue-worker-options.ts'

/** Relays saved entries to events, deliveries, mails and the inbox; every shard may run at the same time. */
export function createOutboxWorker(
  startWorker: StartWorker,
  work: {
    /** Relays the waiting entries of a shard; safe to repeat. */
    relay(shard: number): Promise<unknown>
    /** Shards with an entry older than a wake-up takes. */
    overdue(): Promise<readonly number[]>
  },
): QueueWorker {
  return startWorker({
    queue: QUEUES.outbox,
    concurrency: OUTBOX_SHARDS,
    endsAtOnce: true,
    handle: (id) => work.relay(shardOf(id)),
    sweep: async () => (await work.overdue()).map((shard) => `shard-${shard}`),
    sweepEveryMs: 1_000,
  })
}

function shardOf(id: string): number {
  const shard = Number(/^shard-(\d)$/.exec(id)?.[1])
  if (!Number.isInteger(shard) || shard >= OUTBOX_SHARDS) throw new TypeError(`no outbox shard ${id}`)
  return shard
}
