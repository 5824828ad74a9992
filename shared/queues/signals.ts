import type { EpochStore } from '#shared/ports/epoch-store.ts'
import type { QueueCounts } from '#shared/ports/queue-counts.ts'
import type { RateLimiter } from '#shared/ports/rate-limit.ts'
import type { Metrics, Runtime } from '#shared/ports/runtime.ts'
import type { ClosableNotifier } from './queue-notifier.ts'
import type { QueueWorker, QueueWorkerOptions } from './queue-worker-options.ts'
import type { TokenBuckets } from './token-bucket.ts'

/**
 * How the services of an installation wake each other and count together: over Redis where each is a process
 * (`createRedisSignals`), in memory where one process runs them all (`createMemorySignals`). Nothing in it is a record: all of it
 * may be lost at any moment, and the sweeps find the work in the store.
 */
export interface Signals {
  /** A notifier for one service, closed by its owner. */
  openNotifier(runtime: Pick<Runtime, 'logger' | 'metrics'>): ClosableNotifier
  /** Starts the worker of a queue at once. */
  startWorker(runtime: Runtime, options: QueueWorkerOptions): QueueWorker
  createRateLimiter(metrics: Metrics): RateLimiter
  createTokenBuckets(metrics: Metrics): TokenBuckets
  createEpochStore(): EpochStore
  createQueueCounts(): QueueCounts
}
