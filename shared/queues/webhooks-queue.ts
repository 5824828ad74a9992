/**
 * Queues `webhooks` and `webhooks-slow`
 *   producer         resends, recoveries, retries, a relay or dispatcher that leaves due rows behind, and the sweep
 *   consumer         service `webhooks`; endpoints with time-outs have their own queue, so they use separate slots
 *   payload          `{ id }`, a webhook endpoint id: the job is the endpoint, never the delivery
 *   idempotency key  the endpoint: one job of it waits and one runs, in all processes together
 *   ordering         none; rows are claimed oldest due first
 *   retry class      none in the queue; a delivery's next attempt is its due time in the store
 *   a lost job costs one sweep interval (1 s); a killed dispatcher's rows are claimed again when their lease ends
 */
import { QUEUES } from '#shared/ports/runtime.ts'
import type { QueueWorker, StartWorker } from './queue-worker-options.ts'

/** Sends due deliveries endpoint by endpoint, on one lane. Each lane has its own sweep. */
export function createWebhooksWorker(
  startWorker: StartWorker,
  work: {
    readonly lane: 'normal' | 'slow'
    readonly concurrency: number
    /** Sends the due deliveries of the endpoint; safe to repeat and to run concurrently. */
    dispatch(endpointId: string): Promise<unknown>
    /** Endpoints of this lane with overdue rows. */
    overdue(): Promise<readonly string[]>
  },
): QueueWorker {
  return startWorker({
    queue: work.lane === 'slow' ? QUEUES.webhooksSlow : QUEUES.webhooks,
    concurrency: work.concurrency,
    handle: (endpointId) => work.dispatch(endpointId),
    sweep: () => work.overdue(),
    sweepEveryMs: 1_000,
  })
}
