/**
 * Queue `outbox`
 *   producer         everything that creates or changes an invoice, and the sweep
 *   consumer         service `webhooks`, which makes the first attempts of what it relays
 *   payload          `{ id, others }` = `shard-<n>`, n from 0 to 7, and shards that were woken together with it
 *   idempotency key  the shards: one job of the same ones waits, in all processes together. With one process it ends when its round was
 *                    requested; several split a job of more than one shard, and one job of a shard runs in all of them together
 *   ordering         entries of one invoice are relayed in order of their sequence number
 *   retry class      none in the queue; the sweep queues a failed or lost job again
 *   a lost job costs one sweep interval (1 s)
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
    /** Whether no other process relays: several share the shards, and one of them relays a shard at a time. */
    isAlone(): boolean
  },
): QueueWorker {
  return startWorker({
    queue: QUEUES.outbox,
    concurrency: OUTBOX_SHARDS,
    endsAtOnce: work.isAlone,
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
