import type { RedisConnections } from './connection.ts'
import { createEpochStore } from './epoch-store.ts'
import { createQueueCounts } from './queue-counts.ts'
import { createQueueNotifier } from './queue-notifier.ts'
import { createRateLimiter } from './rate-limiter.ts'
import type { Signals } from './signals.ts'
import { createTokenBuckets } from './token-bucket.ts'
import { createQueueWorker } from './worker.ts'

/** Signals between processes, over connections that the caller owns. */
export function createRedisSignals(redis: RedisConnections): Signals {
  return {
    openNotifier: (runtime) => createQueueNotifier(redis, runtime),
    startWorker: (runtime, options) => createQueueWorker(redis, runtime, options),
    createRateLimiter: (metrics) => createRateLimiter({ redis, metrics }),
    createTokenBuckets: (metrics) => createTokenBuckets({ redis, metrics }),
    createEpochStore: () => createEpochStore(redis),
    createQueueCounts: () => createQueueCounts(redis),
  }
}
