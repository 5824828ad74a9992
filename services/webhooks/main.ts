import type { StartService } from '#services/context.ts'
import { openParts } from '#services/open-parts.ts'
import { createProcessHeartbeats, type ProcessHeartbeats } from '#shared/db/installation/process-heartbeats.ts'
import type { Clock, Logger } from '#shared/ports/runtime.ts'
import { createWebhookHttp } from '#shared/runtime/http/webhook-http.ts'
import { stopwatch } from '#shared/runtime/process/timers.ts'
import { createSecretBox } from '#shared/runtime/secrets/secret-box.ts'
import { assembleWebhooks } from './assemble.ts'

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

/** The interval of heartbeats. */
const EVERY_MS = 15_000
/** A process that has sent no heartbeat for three intervals does not count. */
const LIVE_FOR_MS = 45_000

/**
 * How many `webhooks` processes are alive, by their heartbeats: read now and every 15 s. At least one. While heartbeats cannot be read the
 * last number stands.
 */
export function startProcessCount({
  heartbeats,
  clock,
  logger,
}: {
  readonly heartbeats: Pick<ProcessHeartbeats, 'countLive'>
  readonly clock: Clock
  readonly logger: Logger
}): { count(): number; stop(): Promise<void> } {
  let live = 1
  let running: Promise<void> = Promise.resolve()
  const read = (): void => {
    running = heartbeats.countLive('webhooks', clock.now() - LIVE_FOR_MS).then(
      (found) => {
        live = Math.max(1, found)
      },
      (error: unknown) => logger.debug({ err: error }, 'the live webhooks processes could not be counted'),
    )
  }
  read()
  const timer = setInterval(read, EVERY_MS)
  timer.unref()
  return {
    count: () => live,
    stop: () => {
      clearInterval(timer)
      return running
    },
  }
}
