/**
 * Queues `webhooks` and `webhooks-slow`
 *   producer         the outbox relay, resends, a dispatcher that leaves due rows behind, and the sweep
 *   consumer         service `webhooks`; endpoints with time-outs have their own queue, hence their own slots
 *   payload          `{ id }`, a webhook endpoint id: the job is the endpoint, never the delivery
 *   idempotency key  the endpoint: one job of it waits and one runs, in all processes together
 *   ordering         none; rows are claimed oldest due first
 *   retry class      none in the queue; a delivery's next attempt is its due time in the store
 *   a lost job costs one sweep interval (1 s); a killed dispatcher's rows come back with their lease
 */
import { type Ambient, QUEUES } from '#shared/ports/runtime.ts'
import type { RedisConnections } from './connection.ts'
import { createQueueWorker, type QueueWorker } from './worker.ts'

/** Sends due deliveries endpoint by endpoint, on one lane. Each lane sweeps for itself. */
export function createWebhooksWorker(
  redis: RedisConnections,
  ambient: Ambient,
  work: {
    readonly lane: 'normal' | 'slow'
    readonly concurrency: number
    /** Sends what is due at the endpoint; safe to repeat and to run twice at once. */
    dispatch(endpointId: string): Promise<unknown>
    /** Endpoints of this lane with overdue rows. */
    overdue(): Promise<readonly string[]>
  },
): QueueWorker {
  return createQueueWorker(redis, ambient, {
    queue: work.lane === 'slow' ? QUEUES.webhooksSlow : QUEUES.webhooks,
    concurrency: work.concurrency,
    handle: (endpointId) => work.dispatch(endpointId),
    sweep: () => work.overdue(),
    sweepEveryMs: 1_000,
  })
}
