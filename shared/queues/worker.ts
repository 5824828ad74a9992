import { Worker } from 'bullmq'
import { within } from '#shared/contracts/within.ts'
import type { Runtime } from '#shared/ports/runtime.ts'
import type { RedisConnections } from './connection.ts'
import { createJobTurns } from './job-turns.ts'
import { createQueueNotifier, type WakeUp } from './queue-notifier.ts'
import type { QueueWorker, QueueWorkerOptions } from './queue-worker-options.ts'
import { createSweeper } from './sweeper.ts'
import { createWatchdog } from './watchdog.ts'

const STOP_DEADLINE_MS = 10_000

/**
 * Wake-up and sweep, the pattern of every queue: jobs wake the handler at once, and each `sweepEveryMs` a sweep queries the store
 * for work without a job. Without Redis the sweep handles its findings directly, until Redis responds again.
 */
export function createQueueWorker(redis: RedisConnections, runtime: Runtime, options: QueueWorkerOptions): QueueWorker {
  const { queue, concurrency, endsAtOnce = false } = options
  const logger = runtime.logger.child({ queue })
  let stopped: Promise<void> | undefined
  const turns = createJobTurns(options, { logger, metrics: runtime.metrics })
  const notifier = createQueueNotifier(redis, runtime)
  // One job at a time: BullMQ then begins it without asking for another first, and one that ends at once delays no other.
  const jobs = endsAtOnce ? 1 : concurrency
  const worker = openBullWorker(
    redis,
    { queue, concurrency: jobs },
    { logger, metrics: runtime.metrics },
    async (ids) => {
      watchdog.took()
      // Redis may hand out a job while this worker stops: another one gets it.
      if (stopped !== undefined) {
        for (const id of ids) notifier.notify(queue, id)
        return
      }
      // In the same turn of the event loop, so that the handler merges them.
      const taken = ids.map((id) => turns.take(id))
      if (!endsAtOnce) await Promise.all(taken)
    },
  )
  const watchdog = createWatchdog({
    redis,
    runtime,
    options,
    isBusy: () => !endsAtOnce && turns.size >= concurrency,
    replace: worker.replace,
  })
  const sweeper = createSweeper({
    redis,
    runtime,
    notifier,
    options,
    handle: turns.take,
    isRunning: turns.isRunning,
    watchdog,
  })
  const stop = async (deadlineMs: number): Promise<void> => {
    const until = performance.now() + deadlineMs
    const left = () => Math.max(0, until - performance.now())
    const swept = sweeper.stop()
    // A graceful close calls Redis and would wait for it forever; with force it returns at once and the jobs are awaited here.
    const closed = worker.close(!redis.isHealthy())
    const inTime = (await within(Promise.all([swept, closed]), left())) !== null
    if (!inTime)
      logger.warn({ running: turns.size }, 'jobs were still running at the deadline; the sweep will repeat them')
    await within(turns.settled(), left())
    await notifier.close()
    worker.disconnect()
  }
  return {
    stop: (deadlineMs = STOP_DEADLINE_MS) => {
      stopped ??= stop(deadlineMs)
      return stopped
    },
  }
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
function openBullWorker(
  redis: RedisConnections,
  { queue, concurrency }: Pick<QueueWorkerOptions, 'queue' | 'concurrency'>,
  { logger, metrics }: Pick<Runtime, 'logger' | 'metrics'>,
  take: (ids: readonly string[]) => Promise<void>,
) {
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
    /** Opens new connections and drops the old ones. Running jobs continue; Redis delivers them once more. */
    replace: (): void => {
      const old = current
      current = open()
      old.worker.close(true).catch(() => undefined)
      redis.closeWorkerConnection(old.connection)
    },

    /** Takes no more jobs. With force it does not wait for a response of Redis. */
    close: (force: boolean): Promise<void> => current.worker.close(force).catch(() => undefined),

    /** Closes the connections. */
    disconnect: (): void => redis.closeWorkerConnection(current.connection),
  }
}

/** Validates the payload: a job of another shape was not written by Paymesh. */
function idsOf(data: unknown): readonly string[] {
  if (typeof data !== 'object' || data === null || !('id' in data) || typeof data.id !== 'string')
    throw new TypeError('a job without an id')
  const others: readonly unknown[] = 'others' in data && Array.isArray(data.others) ? data.others : []
  return [data.id, ...others.filter((id) => typeof id === 'string')]
}
