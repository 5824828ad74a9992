import { within } from '#shared/contracts/within.ts'
import type { EpochStore } from '#shared/ports/epoch-store.ts'
import type { JobCounts } from '#shared/ports/queue-counts.ts'
import type { RateLimiter } from '#shared/ports/rate-limit.ts'
import { type Metrics, QUEUES, type QueueName, type Runtime } from '#shared/ports/runtime.ts'
import { createJobTurns } from '../job-turns.ts'
import { createLocalBuckets, standing } from '../local-buckets.ts'
import type { QueueWorker, QueueWorkerOptions } from '../queue-worker-options.ts'
import type { Signals } from '../signals.ts'
import { createSweeper } from '../sweeper.ts'
import { createMemoryTokenBuckets } from '../token-bucket.ts'

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
    if (
      (await within(
        ended.then(() => true),
        deadlineMs,
      )) === null
    )
      logger.warn({ running: turns.size }, 'jobs were still running at the deadline; the sweep will repeat them')
  }
  return {
    stop: (deadlineMs = STOP_DEADLINE_MS) => {
      stopped ??= stop(deadlineMs)
      return stopped
    },
  }
}

/** A worker that takes ids of one queue. */
interface Consumer {
  /** Ids handled at the same time. */
  readonly concurrency: number
  /** Handles one id. Must not reject. */
  take(id: string): Promise<void>
}

/** The queues of a process that runs every worker itself: wake-ups never leave it and end with it. */
type MemoryQueues = ReturnType<typeof createMemoryQueues>

/** The first wake-up after a pause starts its job in this turn of the event loop; those that follow within this time start together. */
const COALESCE_MS = 3
/** Most ids that wait in one queue: memory stays bounded, whatever the payers and receivers do. */
const WAITING_MAX = 100_000

/** Creates all queues, empty. One set per process. */
function createMemoryQueues(metrics: Metrics) {
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

/** Epochs kept for each kind; the oldest is dropped first, and a missing one makes its record be read from the store again. */
const EPOCHS_MAX = 50_000

/** What the processes of an installation otherwise keep in Redis: buckets, epochs, and marks of running requests. */
interface MemoryAdmission {
  readonly limiter: RateLimiter
  readonly epochs: EpochStore
}

/**
 * The limiter and the epochs of a process that serves every request itself: its own counts are exact. `now` gives milliseconds of
 * a monotonic clock since the Unix epoch. Another process on the same database uses a changed key or workspace until its cached
 * record expires, 5 s at most.
 */
export function createMemoryAdmission(now: () => number = monotonicNow): MemoryAdmission {
  const buckets = createLocalBuckets(now)
  const [keyEpochs, workspaceEpochs] = [createEpochs(), createEpochs()]
  /** Owner of each running idempotent operation. */
  const markers = new Map<string, string>()

  return {
    limiter: {
      admit: (request) => {
        const { keyId, workspaceId, publish, marker } = request
        const { allowed, untilFull, at } = buckets.take(request.bucket)
        if (allowed) {
          keyEpochs.raise(keyId, publish.keyEpoch)
          workspaceEpochs.raise(workspaceId, publish.workspaceEpoch)
        }
        const isBusy = marker !== null && markers.has(marker.id)
        if (allowed && marker !== null && !isBusy) markers.set(marker.id, marker.owner)
        return Promise.resolve({
          allowed,
          ...standing(untilFull, at),
          keyEpoch: keyEpochs.of(keyId),
          workspaceEpoch: workspaceEpochs.of(workspaceId),
          marker: !allowed || marker === null ? 'none' : isBusy ? 'busy' : 'set',
        })
      },
      clearMarker: ({ id, owner }) => {
        if (markers.get(id) === owner) markers.delete(id)
      },
      peek: buckets.peek,
    },
    epochs: {
      setKeyEpoch: (keyId, epoch) => Promise.resolve(keyEpochs.raise(keyId, epoch)),
      setWorkspaceEpoch: (workspaceId, epoch) => Promise.resolve(workspaceEpochs.raise(workspaceId, epoch)),
    },
  }
}

const monotonicNow = (): number => performance.timeOrigin + performance.now()

/** Epochs only increase, so that a slow request cannot make an outdated record valid again. */
function createEpochs() {
  const epochs = new Map<string, number>()
  return {
    of: (id: string | null): number | null => (id === null ? null : (epochs.get(id) ?? null)),
    raise: (id: string | null, epoch: number | null): void => {
      if (id === null || epoch === null || epoch <= (epochs.get(id) ?? -1)) return
      epochs.delete(id)
      epochs.set(id, epoch)
      const oldest = epochs.size > EPOCHS_MAX ? epochs.keys().next().value : undefined
      if (oldest !== undefined) epochs.delete(oldest)
    },
  }
}
