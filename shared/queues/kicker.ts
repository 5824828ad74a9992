import { Queue } from 'bullmq'
import type { Ambient, Kicker, QueueName } from '#shared/ports/runtime.ts'
import type { RedisConnections } from './connection.ts'
import { withDeadline } from './deadline.ts'

/** What every job carries. State lives in the store; a job only says where to look. */
export interface WakeUp {
  readonly id: string
}

/** A kicker that can be ended. */
export interface ClosableKicker extends Kicker {
  /** Sends what is still waiting, within a second, and lets go of the queues. The connections are the caller's. */
  close(): Promise<void>
}

/** A lone kick leaves at once; those that come within this long after it travel together, and equal ids become one. */
const COALESCE_MS = 3
const CLOSE_DEADLINE_MS = 1_000

/**
 * Wakes workers after durable writes. A kick returns at once, never throws and is dropped, counted in `kicks_dropped_total`,
 * while Redis is away: the worker's sweep finds the work within a second. While a job of the same id waits, a kick is
 * absorbed; while it runs, the job runs once more afterwards.
 */
export function createKicker(
  redis: RedisConnections,
  { logger, metrics }: Pick<Ambient, 'logger' | 'metrics'>,
): ClosableKicker {
  const queues = new Map<QueueName, Queue<WakeUp>>()
  const waiting = new Map<QueueName, Set<string>>()
  let cancel: (() => void) | null = null
  let lastSentAt = Number.NEGATIVE_INFINITY
  let sending: Promise<void> = Promise.resolve()
  let closed = false

  const queueOf = (name: QueueName): Queue<WakeUp> => {
    const known = queues.get(name)
    if (known !== undefined) return known
    const queue = new Queue<WakeUp>(name, {
      connection: redis.producer,
      prefix: redis.prefix,
      skipVersionCheck: true,
      skipMetasUpdate: true,
    })
    queue.on('error', () => undefined)
    queues.set(name, queue)
    return queue
  }

  const send = async (name: QueueName, ids: ReadonlySet<string>): Promise<void> => {
    try {
      if (!redis.isHealthy()) throw new Error('redis is away')
      await queueOf(name).addBulk([...ids].map(wakeUpJob))
    } catch (error) {
      metrics.count('kicks_dropped_total', { queue: name }, ids.size)
      logger.debug({ queue: name, kicks: ids.size, err: error }, 'kicks dropped')
    }
  }

  const flush = async (): Promise<void> => {
    const batches = [...waiting]
    waiting.clear()
    cancel = null
    lastSentAt = performance.now()
    await Promise.all(batches.map(([name, ids]) => send(name, ids)))
  }

  // One batch is on its way at a time, so that a slow Redis makes batches larger instead of more.
  const flushNext = (): void => {
    sending = sending.then(flush)
  }
  const schedule = (): (() => void) => {
    const waitMs = lastSentAt + COALESCE_MS - performance.now()
    if (waitMs > 0) {
      const timer = setTimeout(flushNext, waitMs)
      return () => clearTimeout(timer)
    }
    // At the end of this turn of the event loop, so that kicks of one burst leave together.
    const immediate = setImmediate(flushNext)
    return () => clearImmediate(immediate)
  }

  return {
    kick: (queue, id) => {
      if (closed) return
      const ids = waiting.get(queue)
      if (ids === undefined) waiting.set(queue, new Set([id]))
      else ids.add(id)
      cancel ??= schedule()
    },
    close: async () => {
      if (closed) return
      closed = true
      cancel?.()
      const settled = sending
        .then(flush)
        .then(() => Promise.all([...queues.values()].map((queue) => queue.close())))
        .catch(() => undefined)
      await withDeadline(settled, CLOSE_DEADLINE_MS)
    },
  }
}

function wakeUpJob(id: string) {
  return {
    name: 'wake-up',
    data: { id },
    opts: {
      deduplication: { id, keepLastIfActive: true },
      removeOnComplete: true,
      removeOnFail: true,
      attempts: 1,
    },
  }
}
