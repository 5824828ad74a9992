import type { ServiceContext, StartService, Stop } from '#services/context.ts'
import { createDeliveryRepository } from '#shared/db/deliveries/delivery-repository.ts'
import { createEndpointRepository } from '#shared/db/endpoints/endpoint-repository.ts'
import { createEventRepository } from '#shared/db/events/event-repository.ts'
import { createMailRepository } from '#shared/db/mails/mail-repository.ts'
import { createOutboundPause } from '#shared/db/restore/outbound-pause.ts'
import { createWorkspaceRepository } from '#shared/db/workspaces/workspace-repository.ts'
import { createKicker } from '#shared/queues/kicker.ts'
import { createWebhooksWorker } from '#shared/queues/webhooks-queue.ts'
import { createWebhookHttp } from '#shared/runtime/http/webhook-http.ts'
import { after } from '#shared/runtime/process/after.ts'
import { stopwatch } from '#shared/runtime/process/stopwatch.ts'
import { createSecretBox } from '#shared/runtime/secrets/secret-box.ts'
import { createDispatcher, type DispatchLane } from '#shared/usecases/deliveries/dispatch-deliveries.ts'
import { startHeldLoop } from './held-loop.ts'

/** Requests in flight of one process. Those of slow endpoints are counted apart, so that they can never fill the others' places. */
const MAX_IN_FLIGHT = { normal: 512, slow: 128 } as const
/** On stop, receivers that have not answered by then are cut off; their deliveries are sent again under the same ids. */
const STOP_GRACE_MS = 3_000

/**
 * The webhooks process: signs and sends due deliveries. Both queues carry endpoint ids; what is due is always asked of
 * the store. It opens its own HTTP connections and closes them. After a restore nothing is sent until a person confirmed it.
 */
export const start: StartService = async (context) => {
  const { config, redis } = context
  const http = createWebhookHttp()
  const kicker = createKicker(redis, context)
  const outboundPause = createOutboundPause(context.db)
  const dispatcher = createDispatcher({
    ...portsOf(context),
    http,
    kicker,
    after,
    stopwatch,
    maxInFlight: MAX_IN_FLIGHT,
  })
  const worker = (lane: DispatchLane, concurrency: number) =>
    createWebhooksWorker(redis, context, {
      lane,
      concurrency,
      dispatch: async (endpointId) => ((await outboundPause.isPaused()) ? null : dispatcher.drain(lane, endpointId)),
      overdue: async () => ((await outboundPause.isPaused()) ? [] : dispatcher.overdue(lane)),
    })
  const { concurrency } = config.webhooks
  const workers = [worker('normal', concurrency), worker('slow', Math.max(1, Math.ceil(concurrency / 4)))]
  const stopHeld = startHeldLoop({ ...portsOf(context), kicker })
  const stop: Stop = async () => {
    const cutOff = after(STOP_GRACE_MS, () => void http.close())
    await Promise.all([stopHeld(), dispatcher.stop(), ...workers.map((each) => each.stop())])
    cutOff()
    await Promise.all([http.close(), kicker.close()])
  }
  return stop
}

function portsOf(context: ServiceContext) {
  const { config, db, clock, random, logger, metrics, tracer } = context
  return {
    clock,
    random,
    logger,
    metrics,
    tracer,
    deliveries: createDeliveryRepository(db),
    endpoints: createEndpointRepository(db),
    events: createEventRepository(db),
    mails: createMailRepository(db),
    workspaces: createWorkspaceRepository(db),
    secretBox: createSecretBox(config.secrets.masterKey),
    allowLocalhost: config.webhooks.allowLocalhost,
  }
}
