import type { Metrics, Runtime } from '#shared/ports/runtime.ts'
import { withDeadline } from '../deadline.ts'
import { createJobTurns } from '../job-turns.ts'
import type { QueueWorker, QueueWorkerOptions } from '../queue-worker-options.ts'
import type { Signals } from '../signals.ts'
import { createSweeper } from '../sweeper.ts'
import { createMemoryTokenBuckets } from '../token-bucket.ts'
import { createMemoryQueues, type MemoryQueues } from './memory-queues.ts'
import { createMemoryAdmission } from './memory-rate-limiter.ts'

/** Signals within one process that runs every service: one set of queues, limits and epochs for all of them. */
export function createMemorySignals(metrics: Metrics): Signals {
  const queues = createMemoryQueues(metrics)
  const { limiter, epochs } = createMemoryAdmission()
  const buckets = createMemoryTokenBuckets()
  return {
    openNotifier: () => {
      let isClosed = false
      return {
        notify: (queue, id) => {
          if (!isClosed) queues.notify(queue, id)
        },
        close: () => {
          isClosed = true
          return Promise.resolve()
        },
      }
    },
    startWorker: (runtime, options) => createMemoryWorker(queues, runtime, options),
    createRateLimiter: () => limiter,
    createTokenBuckets: () => buckets,
    createEpochStore: () => epochs,
    createQueueCounts: () => ({
      read: () => Promise.resolve(queues.counts()),
      redisAwayMs: () => 0,
      close: () => Promise.resolve(),
    }),
  }
}

const STOP_DEADLINE_MS = 10_000

/** Queues in memory are never away and lose no connection. */
const ALWAYS_THERE = { isHealthy: () => true, unhealthyForMs: () => 0 }
const NOTHING_TO_WATCH = { isIdle: () => false, look: () => Promise.resolve() }

/**
 * Wake-up and sweep as `createQueueWorker`, on queues in memory. The sweep stays: it finds deadlines, retries, work of other
 * processes on the same database, and the work that an earlier process left when it died.
 */
function createMemoryWorker(queues: MemoryQueues, runtime: Runtime, options: QueueWorkerOptions): QueueWorker {
  const { queue, concurrency } = options
  const logger = runtime.logger.child({ queue })
  const turns = createJobTurns(options, { logger, metrics: runtime.metrics })
  const leave = queues.consume(queue, { concurrency, take: turns.take })
  const sweeper = createSweeper({
    redis: ALWAYS_THERE,
    runtime,
    notifier: queues,
    options,
    handle: turns.take,
    isRunning: turns.isRunning,
    watchdog: NOTHING_TO_WATCH,
  })
  let stopped: Promise<void> | undefined
  const stop = async (deadlineMs: number): Promise<void> => {
    leave()
    const ended = sweeper.stop().then(turns.settled)
    if (!(await withDeadline(ended, deadlineMs)))
      logger.warn({ running: turns.size }, 'jobs were still running at the deadline; the sweep will repeat them')
  }
  return {
    stop: (deadlineMs = STOP_DEADLINE_MS) => {
      stopped ??= stop(deadlineMs)
      return stopped
    },
  }
}
