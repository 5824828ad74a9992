import type { StartService } from '#services/context.ts'
import { openParts } from '#services/open-parts.ts'
import { createProcessHeartbeats } from '#shared/db/installation/process-heartbeats.ts'
import { createWebhookHttp } from '#shared/runtime/http/webhook-http.ts'
import { stopwatch } from '#shared/runtime/process/timers.ts'
import { createSecretBox } from '#shared/runtime/secrets/secret-box.ts'
import { assembleWebhooks, startProcessCount } from './assemble.ts'

/** Requests in flight of one process. Those of slow endpoints are counted separately, so that they never use up the others' slots. */
const MAX_IN_FLIGHT = { normal: 512, slow: 256 } as const

/**
 * The webhooks process: turns saved outbox entries into events, deliveries, mails, exceptions and audit rows, each exactly once; makes
 * the first attempt of a delivery as soon as it is stored; and sends due deliveries. Queues carry shards and endpoint ids; entries and
 * due rows are always read from the store. It opens its own HTTP connections and closes them. After a restore nothing is sent until a
 * person has confirmed it.
 */
export const start: StartService = async (context) => {
  const { concurrency, endpointInFlightMax, allowLocalhost } = context.config.webhooks
  const parts = openParts(context)
  const live = startProcessCount({ ...parts, heartbeats: createProcessHeartbeats(context.db) })
  const stop = assembleWebhooks({
    ...parts,
    urls: { checkoutBaseUrl: context.config.checkout.baseUrl },
    processes: live.count,
    http: createWebhookHttp(),
    secretBox: createSecretBox(context.config.secrets.masterKey),
    stopwatch,
    maxInFlight: MAX_IN_FLIGHT,
    endpointInFlightMax,
    concurrency,
    allowLocalhost,
  })
  return async () => {
    await Promise.all([stop(), live.stop()])
    await parts.notifier.close()
  }
}
