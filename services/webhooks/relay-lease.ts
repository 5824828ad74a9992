import type { Ms } from '#shared/domain/invoice/model.ts'
import type { Runtime } from '#shared/ports/runtime.ts'
import type { QueueWorker } from '#shared/queues/queue-worker-options.ts'
import { pauseUntil } from '#shared/runtime/process/pause-until.ts'
import type { Uses } from '#shared/usecases/uses.ts'

/** Name of the lease of the relay. */
export const RELAY_LEASE = 'outbox-relay'
/** From its last renewal by the store's clock. A killed process keeps the others from relaying for so long. */
const LEASE_MS: Ms = 5_000
/** How often the holder renews it and the others request it. */
const EVERY_MS: Ms = 1_000

/**
 * Keeps the relay to one `webhooks` process at a time, however many run: rounds of one process form large groups, those of several the
 * same writes in small ones. The process that gets the lease starts the worker of the queue, so that wake-ups reach it directly; it stops
 * the worker once another process has the lease. The lease saves commands and decides nothing else: a holder that was suspended relays beside its
 * successor until its next request, and every row has one id. While the store does not answer, everything stays as it is.
 * The returned function ends the work and then frees the lease, which another process takes within a second or so; that of a killed process
 * within six.
 */
export function startRelayLease(
  deps: Pick<Runtime, 'random' | 'logger' | 'pauses'> & Uses<'leases'>,
  startWorker: () => QueueWorker,
): () => Promise<void> {
  const { leases, logger, pauses } = deps
  const owner = deps.random.uuid()
  const stop = new AbortController()
  const ending = new Set<Promise<void>>()
  let worker: QueueWorker | null = null

  const end = (): void => {
    if (worker === null) return
    const ended: Promise<void> = worker.stop().finally(() => ending.delete(ended))
    ending.add(ended)
    worker = null
  }
  const look = async (): Promise<void> => {
    const isOurs = await leases.acquire(RELAY_LEASE, owner, LEASE_MS)
    if (stop.signal.aborted || isOurs === (worker !== null)) return
    logger.info({ lease: RELAY_LEASE, isHeld: isOurs }, 'the relay has moved')
    if (isOurs) worker = startWorker()
    else end()
  }
  const loop = async (): Promise<void> => {
    while (!stop.signal.aborted) {
      await look().catch((cause: unknown) => {
        logger.warn({ err: cause, lease: RELAY_LEASE }, 'the lease of the relay could not be requested')
      })
      await pauseUntil(EVERY_MS, stop.signal, pauses)
    }
  }
  const running = loop()
  return async () => {
    stop.abort()
    await running
    end()
    await Promise.all(ending)
    await leases.release(RELAY_LEASE, owner).catch((cause: unknown) => {
      logger.warn({ err: cause, lease: RELAY_LEASE }, 'the lease of the relay was not freed')
    })
  }
}
