import type { Runtime } from '#shared/ports/runtime.ts'
import type { RedisConnections } from './connection.ts'
import type { QueueWorkerOptions } from './queue-worker-options.ts'

export interface WatchdogDeps {
  readonly redis: RedisConnections
  readonly runtime: Runtime
  readonly options: Pick<QueueWorkerOptions, 'queue' | 'idleAfterMs'>
  /** True while all job slots are taken. */
  isBusy(): boolean
  /** Replaces the worker by a new one. */
  replace(): void
}

/** Watches a worker that reports itself as running. */
export type Watchdog = ReturnType<typeof createWatchdog>

const IDLE_AFTER_MS = 10_000
/** A replacement that takes nothing either did not help: the next ones follow at growing intervals. */
const PATIENCE_MAX_MS = 300_000

/**
 * A worker whose connection died silently waits forever and reports itself as running (a socket dropped by a firewall, a
 * Redis that was replaced behind its address). The sign: jobs are in its queue and it takes none. It is then
 * replaced, and `workers_replaced_total` counts it.
 */
export function createWatchdog(deps: WatchdogDeps) {
  const { redis, runtime } = deps
  const { queue, idleAfterMs = IDLE_AFTER_MS } = deps.options
  const waitingKey = `${redis.prefix}:${queue}:wait`
  let tookAt = performance.now()
  let waitingSince: number | null = null
  let patienceMs = idleAfterMs

  const isIdle = (): boolean => !deps.isBusy() && performance.now() - tookAt >= idleAfterMs
  return {
    /** The worker took a job. */
    took: (): void => {
      tookAt = performance.now()
      waitingSince = null
      patienceMs = idleAfterMs
    },

    /** True when the worker has free slots and has taken nothing for a while, whether or not there was anything. */
    isIdle,

    /** One check; called repeatedly while Redis responds. */
    look: async (): Promise<void> => {
      if (deps.isBusy() || !redis.isHealthy()) {
        waitingSince = null
        return
      }
      const waiting = await redis.producer.llen(waitingKey).catch(() => 0)
      const now = performance.now()
      if (waiting === 0) waitingSince = null
      else waitingSince ??= now
      if (waitingSince === null || now - waitingSince < patienceMs || !isIdle()) return
      runtime.metrics.count('workers_replaced_total', { queue })
      runtime.logger.warn({ queue, waiting }, 'a worker took no job although jobs waited; it was replaced')
      patienceMs = Math.min(patienceMs * 2, PATIENCE_MAX_MS)
      waitingSince = null
      deps.replace()
    },
  }
}
