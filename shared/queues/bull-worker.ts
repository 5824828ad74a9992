import { Worker } from 'bullmq'
import type { Runtime } from '#shared/ports/runtime.ts'
import type { RedisConnections } from './connection.ts'
import type { WakeUp } from './queue-notifier.ts'
import type { QueueWorkerOptions } from './queue-worker-options.ts'

/** BullMQ's worker for one queue, which can be replaced while it runs. */
export interface BullWorker {
  /** Opens new connections and drops the old ones. Running jobs continue; Redis delivers them once more. */
  replace(): void
  /** Takes no more jobs. With force it does not wait for a response of Redis. */
  close(force: boolean): Promise<void>
  /** Closes the connections. */
  disconnect(): void
}

/**
 * Short, because a killed worker's ids stay locked until its locks are found expired: two checks after the expiry
 * (8 to 10 s). An event loop blocked for longer than the lock only makes a job run twice.
 */
const LOCK_MS = 8_000
const STALLED_CHECK_MS = 2_000
/** A stall is not a failure of the job, so no number of stalls may fail it. */
const STALLS_MAX = 1_000_000
const IDLE_BLOCK_S = 2
const RETRY_AFTER_REDIS_ERROR_MS = 1_000

/** Starts taking jobs at once. */
export function openBullWorker(
  redis: RedisConnections,
  { queue, concurrency }: Pick<QueueWorkerOptions, 'queue' | 'concurrency'>,
  { logger, metrics }: Pick<Runtime, 'logger' | 'metrics'>,
  take: (ids: readonly string[]) => Promise<void>,
): BullWorker {
  const open = () => {
    const connection = redis.openWorkerConnection()
    const worker = new Worker<WakeUp>(
      queue,
      (job) => {
        const waitedMs = Date.now() - job.timestamp
        metrics.observe('job_wait_seconds', Math.max(0, waitedMs) / 1_000, { queue })
        return take(idsOf(job.data))
      },
      {
        connection,
        prefix: redis.prefix,
        concurrency,
        lockDuration: LOCK_MS,
        stalledInterval: STALLED_CHECK_MS,
        maxStalledCount: STALLS_MAX,
        drainDelay: IDLE_BLOCK_S,
        runRetryDelay: RETRY_AFTER_REDIS_ERROR_MS,
        removeOnComplete: { count: 0 },
        removeOnFail: { count: 0 },
        skipVersionCheck: true,
      },
    )
    worker.on('stalled', () => metrics.count('jobs_stalled_total', { queue }))
    worker.on('lockRenewalFailed', (ids: readonly string[]) =>
      metrics.count('job_lock_lost_total', { queue }, ids.length),
    )
    worker.on('error', (error) => logger.debug({ err: error }, 'queue connection failed'))
    return { connection, worker }
  }
  let current = open()
  return {
    replace: () => {
      const old = current
      current = open()
      old.worker.close(true).catch(() => undefined)
      redis.closeWorkerConnection(old.connection)
    },
    close: (force) => current.worker.close(force).catch(() => undefined),
    disconnect: () => redis.closeWorkerConnection(current.connection),
  }
}

/** Validates the payload: a job of another shape was not written by Paymesh. */
function idsOf(data: unknown): readonly string[] {
  if (typeof data !== 'object' || data === null || !('id' in data) || typeof data.id !== 'string')
    throw new TypeError('a job without an id')
  const others: readonly unknown[] = 'others' in data && Array.isArray(data.others) ? data.others : []
  return [data.id, ...others.filter((id) => typeof id === 'string')]
}
