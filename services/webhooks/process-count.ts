import type { ProcessHeartbeats } from '#shared/db/installation/process-heartbeats.ts'
import type { Clock, Logger } from '#shared/ports/runtime.ts'

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
