import type { Ambient } from '#shared/ports/runtime.ts'
import type { RedisConnections } from './connection.ts'
import type { QueueWorkerOptions } from './queue-worker-options.ts'

export interface WatchdogDeps {
  readonly redis: RedisConnections
  readonly ambient: Ambient
  readonly options: Pick<QueueWorkerOptions, 'queue' | 'idleAfterMs'>
  /** True while every place for a job is taken. */
  isBusy(): boolean
  /** Exchanges the worker for a new one. */
  replace(): void
}

/** Watches over a worker that says it runs. */
export interface Watchdog {
  /** The worker took a job. */
  took(): void
  /** True when the worker has places free and has taken nothing for a while, whether or not there was anything. */
  isIdle(): boolean
  /** One look; called again and again while Redis answers. */
  look(): Promise<void>
}

const IDLE_AFTER_MS = 10_000
/** A replacement that took nothing either is not the cure: the next one comes later and later. */
const PATIENCE_MAX_MS = 300_000

/**
 * A worker whose connection died without a word waits for ever and calls itself running (a socket that a firewall forgot, a
 * Redis that was exchanged behind its address). What gives it away: jobs lie in its queue and it takes none. Then it is
 * replaced, and `workers_replaced_total` counts it.
 */
export function createWatchdog(deps: WatchdogDeps): Watchdog {
  const { redis, ambient } = deps
  const { queue, idleAfterMs = IDLE_AFTER_MS } = deps.options
  const waitingKey = `${redis.prefix}:${queue}:wait`
  let tookAt = performance.now()
  let waitingSince: number | null = null
  let patienceMs = idleAfterMs

  const isIdle = (): boolean => !deps.isBusy() && performance.now() - tookAt >= idleAfterMs
  return {
    took: () => {
      tookAt = performance.now()
      waitingSince = null
      patienceMs = idleAfterMs
    },
    isIdle,
    look: async () => {
      if (deps.isBusy() || !redis.isHealthy()) {
        waitingSince = null
        return
      }
      const waiting = await redis.producer.llen(waitingKey).catch(() => 0)
      const now = performance.now()
      if (waiting === 0) waitingSince = null
      else waitingSince ??= now
      if (waitingSince === null || now - waitingSince < patienceMs || !isIdle()) return
      ambient.metrics.count('workers_replaced_total', { queue })
      ambient.logger.warn({ queue, waiting }, 'a worker took no job although jobs waited; it was replaced')
      patienceMs = Math.min(patienceMs * 2, PATIENCE_MAX_MS)
      waitingSince = null
      deps.replace()
    },
  }
}
