import { type JobsOptions, Queue } from 'bullmq'
import { within } from '#shared/contracts/within.ts'
import { QUEUES, type QueueName, type QueueNotifier, type Runtime } from '#shared/ports/runtime.ts'
import type { RedisConnections } from './connection.ts'

/** Payload of every job. State is in the store; a job only names ids. */
export interface WakeUp {
  readonly id: string
  /** Further ids of the same job. */
  readonly others?: readonly string[]
}

/** Queues in which wake-ups that are sent together are one job: a round reads any number of shards. */
const JOINED: ReadonlySet<QueueName> = new Set([QUEUES.outbox])

/** A queue notifier that can be closed. */
export interface ClosableNotifier extends QueueNotifier {
  /** Sends waiting wake-ups, within a second, and closes the queues. The caller owns the connections. */
  close(): Promise<void>
}

/** A lone wake-up is sent at once; those that follow within this time are sent together, and equal ids are merged. */
const COALESCE_MS = 3
const CLOSE_DEADLINE_MS = 1_000

/**
 * Wakes workers after durable writes. A wake-up returns at once, never throws and is dropped, counted in `wakeups_dropped_total`,
 * while Redis is unavailable: the worker's sweep finds the work within a second. While a job of the same id waits, a wake-up is
 * absorbed; while it runs, the job runs once more afterwards.
 */
export function createQueueNotifier(
  redis: RedisConnections,
  { logger, metrics }: Pick<Runtime, 'logger' | 'metrics'>,
): ClosableNotifier {
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
      if (!redis.isHealthy()) throw new Error('redis is unavailable')
      const [first, ...others] = JOINED.has(name) ? [wakeUpJob([...ids].sort())] : [...ids].map((id) => wakeUpJob([id]))
      if (first === undefined) return
      // One script; several are a transaction, which costs two commands more and a copy of all commands in this process.
      if (others.length === 0) await queueOf(name).add(first.name, first.data, first.opts)
      else await queueOf(name).addBulk([first, ...others])
    } catch (error) {
      metrics.count('wakeups_dropped_total', { queue: name }, ids.size)
      logger.debug({ queue: name, wakeUps: ids.size, err: error }, 'wake-ups dropped')
    }
  }

  const flush = async (): Promise<void> => {
    const batches = [...waiting]
    waiting.clear()
    cancel = null
    lastSentAt = performance.now()
    await Promise.all(batches.map(([name, ids]) => send(name, ids)))
  }

  // Only one batch is sent at a time, so that a slow Redis makes batches larger instead of more.
  const flushNext = (): void => {
    sending = sending.then(flush)
  }
  const schedule = (): (() => void) => {
    const waitMs = lastSentAt + COALESCE_MS - performance.now()
    if (waitMs > 0) {
      const timer = setTimeout(flushNext, waitMs)
      return () => clearTimeout(timer)
    }
    // At the end of this turn of the event loop, so that wake-ups of one burst are sent together.
    const immediate = setImmediate(flushNext)
    return () => clearImmediate(immediate)
  }

  return {
    notify: (queue, id) => {
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
      await within(settled, CLOSE_DEADLINE_MS)
    },
  }
}

/** Jobs of different ids are never merged: a wake-up is absorbed only by a job that names all of its ids and has not begun. */
function wakeUpJob([id = '', ...others]: readonly string[]): { name: string; data: WakeUp; opts: JobsOptions } {
  return {
    name: 'wake-up',
    data: others.length === 0 ? { id } : { id, others },
    opts: {
      deduplication: { id: [id, ...others].join('+'), keepLastIfActive: true },
      removeOnComplete: true,
      removeOnFail: true,
      attempts: 1,
    },
  }
}
