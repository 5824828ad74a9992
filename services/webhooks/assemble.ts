import type { ServiceParts, Stop } from '#services/context.ts'
import { createWebhooksWorker } from '#shared/queues/webhooks-queue.ts'
import {
  createDispatcher,
  type DispatchDeliveriesDeps,
  type DispatchLane,
} from '#shared/usecases/deliveries/dispatch-deliveries.ts'
import { startPausedRowsLoop } from './paused-rows-loop.ts'

/** On stop, receivers that have not responded by then are cut off; their deliveries are sent again under the same ids. */
const STOP_GRACE_MS = 3_000

/** The parts of the `webhooks` process. */
export interface WebhooksParts
  extends ServiceParts,
    Pick<DispatchDeliveriesDeps, 'secretBox' | 'allowLocalhost' | 'stopwatch' | 'maxInFlight'> {
  readonly http: DispatchDeliveriesDeps['http'] & { close(): Promise<void> }
  /** Endpoints served at the same time on the normal lane; the slow one gets a quarter of it, and at least one. */
  readonly concurrency: number
}

/** Both lanes of one dispatcher, each with a worker, and the loop over paused deliveries. Stopping closes `http`. */
export function assembleWebhooks(parts: WebhooksParts): Stop {
  const { http, outboundPause, concurrency } = parts
  const dispatcher = createDispatcher(parts)
  const worker = (lane: DispatchLane, concurrency: number) =>
    createWebhooksWorker(parts.startWorker, {
      lane,
      concurrency,
      dispatch: async (endpointId) => ((await outboundPause.isPaused()) ? null : dispatcher.drain(lane, endpointId)),
      overdue: async () => ((await outboundPause.isPaused()) ? [] : dispatcher.overdue(lane)),
    })
  const workers = [worker('normal', concurrency), worker('slow', Math.max(1, Math.ceil(concurrency / 4)))]
  const stopHeld = startPausedRowsLoop(parts)
  return async () => {
    const cutOff = parts.after(STOP_GRACE_MS, () => void http.close())
    await Promise.all([stopHeld(), dispatcher.stop(), ...workers.map((each) => each.stop())])
    cutOff()
    await http.close()
  }
}
