import { Queue } from 'bullmq'
import type { JobCounts, QueueCounts } from '#shared/ports/queue-counts.ts'
import { QUEUES, type QueueName } from '#shared/ports/runtime.ts'
import type { RedisConnections } from './connection.ts'
import { createEpochStore } from './epoch-store.ts'
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

/** Reads the number of wake-ups in each queue, on the producer's connection: it fails fast while Redis is unavailable. */
function createQueueCounts(redis: RedisConnections): QueueCounts {
  const queues = new Map<QueueName, Queue>()
  const queueOf = (name: QueueName): Queue => {
    const known = queues.get(name)
    if (known !== undefined) return known
    const { producer: connection, prefix } = redis
    const queue = new Queue(name, { connection, prefix, skipVersionCheck: true, skipMetasUpdate: true })
    queue.on('error', () => undefined)
    queues.set(name, queue)
    return queue
  }
  return {
    read: async () => {
      if (!redis.isHealthy()) return null
      try {
        const counted = await Promise.all(
          Object.values(QUEUES).map(async (name) => [name, await countsOf(queueOf(name))]),
        )
        return Object.fromEntries(counted)
      } catch {
        return null
      }
    },
    redisAwayMs: () => Math.round(redis.unhealthyForMs()),
    close: async () => {
      await Promise.all([...queues.values()].map((queue) => queue.close().catch(() => undefined)))
    },
  }
}

async function countsOf(queue: Queue): Promise<JobCounts> {
  const {
    waiting = 0,
    active = 0,
    delayed = 0,
    failed = 0,
  } = await queue.getJobCounts('waiting', 'active', 'delayed', 'failed')
  return { waiting, active, delayed, failed }
}
