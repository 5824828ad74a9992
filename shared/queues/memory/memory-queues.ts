import type { JobCounts } from '#shared/ports/queue-counts.ts'
import { type Metrics, QUEUES, type QueueName } from '#shared/ports/runtime.ts'

/** A worker that takes ids of one queue. */
export interface Consumer {
  /** Ids handled at the same time. */
  readonly concurrency: number
  /** Handles one id. Must not reject. */
  take(id: string): Promise<void>
}

/** The queues of a process that runs every worker itself: wake-ups never leave it and end with it. */
export type MemoryQueues = ReturnType<typeof createMemoryQueues>

/** The first wake-up after a pause starts its job in this turn of the event loop; those that follow within this time start together. */
const COALESCE_MS = 3
/** Most ids that wait in one queue: memory stays bounded, whatever the payers and receivers do. */
const WAITING_MAX = 100_000

/** Creates all queues, empty. One set per process. */
export function createMemoryQueues(metrics: Metrics) {
  const queues = new Map(Object.values(QUEUES).map((name) => [name, createQueue(name, metrics)] as const))
  const queueOf = (name: QueueName) => {
    const queue = queues.get(name)
    if (queue === undefined) throw new Error(`no queue ${name}`)
    return queue
  }
  return {
    /**
     * Wakes the worker of a queue. Returns at once and never throws. While the id waits, the wake-up is absorbed; while it runs, it
     * runs once more afterwards. Without a worker, or with 100,000 ids waiting, the wake-up is dropped and counted in
     * `wakeups_dropped_total`; the sweep finds the work.
     */
    notify: (queue: QueueName, id: string): void => queueOf(queue).notify(id),

    /** Registers a worker; the returned function ends it: it is passed no further id. */
    consume: (queue: QueueName, consumer: Consumer): (() => void) => queueOf(queue).consume(consumer),
    counts: (): Readonly<Record<QueueName, JobCounts>> => {
      const counted = [...queues].map(([name, queue]) => [name, queue.counts()] as const)
      return Object.fromEntries(counted) as Record<QueueName, JobCounts>
    },
  }
}

interface Slots extends Consumer {
  busy: number
}

function createQueue(queue: QueueName, metrics: Metrics) {
  /** Waiting ids with the time of their wake-up, oldest first. */
  const waiting = new Map<string, number>()
  const running = new Set<string>()
  const consumers = new Set<Slots>()
  let isScheduled = false
  let pumpedAt = Number.NEGATIVE_INFINITY

  const freeConsumer = (): Slots | undefined => {
    for (const consumer of consumers) if (consumer.busy < consumer.concurrency) return consumer
    return undefined
  }

  const start = (consumer: Slots, id: string): void => {
    running.add(id)
    consumer.busy += 1
    const ended = (): void => {
      running.delete(id)
      consumer.busy -= 1
      if (waiting.size > 0) pump()
    }
    consumer.take(id).then(ended, ended)
  }

  const pump = (): void => {
    isScheduled = false
    pumpedAt = performance.now()
    for (const [id, since] of waiting) {
      // Its next turn begins when the running one has ended.
      if (running.has(id)) continue
      const consumer = freeConsumer()
      if (consumer === undefined) return
      waiting.delete(id)
      metrics.observe('job_wait_seconds', (performance.now() - since) / 1_000, { queue })
      start(consumer, id)
    }
  }

  const schedule = (): void => {
    if (isScheduled) return
    isScheduled = true
    const waitMs = pumpedAt + COALESCE_MS - performance.now()
    // Never in the caller's own turn: it has just written, and goes on first.
    if (waitMs > 0) setTimeout(pump, waitMs)
    else setImmediate(pump)
  }

  return {
    notify: (id: string): void => {
      if (waiting.has(id)) return
      if (consumers.size === 0 || waiting.size >= WAITING_MAX) {
        metrics.count('wakeups_dropped_total', { queue })
        return
      }
      waiting.set(id, performance.now())
      schedule()
    },
    consume: ({ concurrency, take }: Consumer): (() => void) => {
      const slots: Slots = { concurrency, take, busy: 0 }
      consumers.add(slots)
      return () => {
        consumers.delete(slots)
        if (consumers.size > 0) return
        if (waiting.size > 0) metrics.count('wakeups_dropped_total', { queue }, waiting.size)
        waiting.clear()
      }
    },
    counts: (): JobCounts => ({ waiting: waiting.size, active: running.size, delayed: 0, failed: 0 }),
  }
}
