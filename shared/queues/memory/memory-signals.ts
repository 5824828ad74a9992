import type { Metrics } from '#shared/ports/runtime.ts'
import type { Signals } from '../signals.ts'
import { createMemoryTokenBuckets } from '../token-bucket.ts'
import { createMemoryQueues } from './memory-queues.ts'
import { createMemoryAdmission } from './memory-rate-limiter.ts'
import { createMemoryWorker } from './memory-worker.ts'

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
