import { Queue } from 'bullmq'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { type Metrics, QUEUES, type Runtime } from '#shared/ports/runtime.ts'
import { patientRedis } from '#test/support/patient-redis.ts'
import { useRedisServers } from '#test/support/redis-servers.ts'
import { useStores } from '#test/support/stores.ts'
import { connectRedis, type RedisConnections } from './connection.ts'
import { createQueueNotifier } from './queue-notifier.ts'
import type { QueueWorkerOptions } from './queue-worker-options.ts'
import { createQueueWorker } from './worker.ts'

const stores = useStores()
const { startRedis } = useRedisServers()
const endings: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const end of endings.splice(0).reverse()) await end()
})

/** Far longer than any test, for workers that must not be helped by their sweep. */
const NEVER_MS = 3_600_000

function startWorker(redis: RedisConnections, options: Partial<QueueWorkerOptions>) {
  const worker = createQueueWorker(redis, runtime(), {
    queue: QUEUES.outbox,
    concurrency: 4,
    handle: () => Promise.resolve(),
    sweep: () => Promise.resolve([]),
    sweepEveryMs: NEVER_MS,
    ...options,
  })
  endings.push(() => worker.stop(2_000))
  return worker
}

function startNotifier(redis: RedisConnections) {
  const notifier = createQueueNotifier(redis, runtime())
  endings.push(() => notifier.close())
  return notifier
}

/** Each test has another prefix, so that a frozen job of one test cannot reach another. A slow Redis is awaited. */
function ownRedis(): RedisConnections {
  const prefix = `${stores.prefix}-${stores.runtime.random.uuid()}`
  const redis = connectRedis({ url: stores.redisUrl, prefix, logger: stores.runtime.logger })
  endings.push(() => redis.close())
  return patientRedis(redis)
}

function deferred() {
  let resolve: () => void = () => undefined
  const promise = new Promise<void>((done) => {
    resolve = done
  })
  return { promise, resolve }
}

const eventually = (check: () => unknown) => vi.waitFor(check, { timeout: 60_000, interval: 10 })

const counted = new Map<string, number>()
const metrics: Metrics = {
  count: (name, _labels, by = 1) => void counted.set(name, (counted.get(name) ?? 0) + by),
  gauge: () => undefined,
  observe: () => undefined,
}
const runtime = (): Runtime => ({ ...stores.runtime, metrics })

describe('wake-up', () => {
  it('runs the handler once for a burst of wake-ups of one id', async () => {
    const redis = ownRedis()
    expect(await redis.waitUntilHealthy(60_000)).toBe(true)
    const handled: string[] = []
    startWorker(redis, { handle: (id) => Promise.resolve(handled.push(id)) })
    const notifier = startNotifier(redis)
    for (let times = 0; times < 20; times++) notifier.notify(QUEUES.outbox, 'shard-1')
    notifier.notify(QUEUES.outbox, 'shard-2')
    await eventually(() => expect([...handled].sort()).toEqual(['shard-1', 'shard-2']))
  })

  // Guarantee: a wake-up that arrives while its job runs is not lost.
  it('runs the handler once more when woken while it runs', async () => {
    const redis = ownRedis()
    const first = deferred()
    const handle = vi.fn(() => (handle.mock.calls.length === 1 ? first.promise : Promise.resolve()))
    startWorker(redis, { handle })
    const notifier = startNotifier(redis)
    notifier.notify(QUEUES.outbox, 'shard-1')
    await eventually(() => expect(handle).toHaveBeenCalledTimes(1))
    for (let times = 0; times < 3; times++) notifier.notify(QUEUES.outbox, 'shard-1')
    await notifier.close()
    first.resolve()
    await eventually(() => expect(handle).toHaveBeenCalledTimes(2))
  })

  it('leaves a failed job to the next wake-up', async () => {
    const redis = ownRedis()
    const handle = vi.fn(() =>
      handle.mock.calls.length === 1 ? Promise.reject(new Error('first')) : Promise.resolve(),
    )
    startWorker(redis, { handle })
    const notifier = startNotifier(redis)
    notifier.notify(QUEUES.outbox, 'shard-1')
    await eventually(() => expect(handle).toHaveBeenCalledTimes(1))
    await eventually(() => {
      notifier.notify(QUEUES.outbox, 'shard-1')
      expect(handle.mock.calls.length).toBeGreaterThan(1)
    })
  })
})

describe('a queue whose jobs end at once', () => {
  // Guarantee: no wake-up waits for the turn of another id, or for its own; the handler merges what runs together.
  it('calls the handler for every wake-up, also while turns of it run', async () => {
    const redis = ownRedis()
    const hold = deferred()
    const handled: string[] = []
    const handle = (id: string) => {
      handled.push(id)
      return hold.promise
    }
    startWorker(redis, { endsAtOnce: true, handle })
    const notifier = startNotifier(redis)
    for (const [at, id] of ['shard-1', 'shard-2', 'shard-1'].entries()) {
      notifier.notify(QUEUES.outbox, id)
      await eventually(() => expect(handled).toHaveLength(at + 1))
    }
    expect(handled).toEqual(['shard-1', 'shard-2', 'shard-1'])
    hold.resolve()
  })

  // Guarantee: a process that dies during a turn holds no job, so the next wake-up of the id is not absorbed until a payment method expires.
  it('leaves no job in the queue while the handler runs', async () => {
    const redis = ownRedis()
    const hold = deferred()
    const handle = vi.fn(() => hold.promise)
    startWorker(redis, { endsAtOnce: true, handle })
    startNotifier(redis).notify(QUEUES.outbox, 'shard-1')
    await eventually(() => expect(handle).toHaveBeenCalledTimes(1))
    const left = async () =>
      (await redis.producer.keys(`${redis.prefix}:outbox:*`)).map((key) => key.split(':').slice(2).join(':'))
    await vi.waitFor(async () => {
      const keys = await left()
      expect(keys.filter((key) => /^(wait|active|de:|\d)/.test(key))).toEqual([])
    }, 60_000)
    hold.resolve()
  })

  it('waits for running turns before it stops', async () => {
    const redis = ownRedis()
    const [first, second] = [deferred(), deferred()]
    const ended: string[] = []
    const handle = vi.fn(async () => {
      const turn = handle.mock.calls.length === 1 ? first : second
      await turn.promise
      ended.push(turn === first ? 'first' : 'second')
    })
    const worker = startWorker(redis, { endsAtOnce: true, handle })
    const notifier = startNotifier(redis)
    notifier.notify(QUEUES.outbox, 'shard-1')
    await eventually(() => expect(handle).toHaveBeenCalledTimes(1))
    notifier.notify(QUEUES.outbox, 'shard-1')
    await eventually(() => expect(handle).toHaveBeenCalledTimes(2))
    const stopped = worker.stop(30_000).then(() => ended.push('stopped'))
    second.resolve()
    await eventually(() => expect(ended).toEqual(['second']))
    first.resolve()
    await stopped
    expect(ended).toEqual(['second', 'first', 'stopped'])
  })

  it('handles every id of one job in one turn of the event loop, and a job of the version before', async () => {
    const redis = ownRedis()
    const notifier = startNotifier(redis)
    for (const id of ['shard-3', 'shard-1', 'shard-2']) notifier.notify(QUEUES.outbox, id)
    await notifier.close()
    // A notifier is closed after a second, whether or not Redis has answered it.
    await eventually(async () => expect(await redis.producer.llen(`${redis.prefix}:outbox:wait`)).toBe(1))
    const queue = new Queue(QUEUES.outbox, { connection: redis.producer, prefix: redis.prefix, skipVersionCheck: true })
    endings.push(() => queue.close())
    await queue.add('wake-up', { id: 'shard-7' }, { deduplication: { id: 'shard-7', keepLastIfActive: true } })

    const together: string[][] = []
    let turn: string[] | null = null
    const handle = (id: string) => {
      if (turn === null) {
        turn = []
        together.push(turn)
        queueMicrotask(() => {
          turn = null
        })
      }
      turn.push(id)
      return Promise.resolve()
    }
    startWorker(redis, { endsAtOnce: true, handle })
    await eventually(() => expect(together).toEqual([['shard-1', 'shard-2', 'shard-3'], ['shard-7']]))
  })
})

describe('sweep', () => {
  // Guarantee: wiping Redis loses no work, only time.
  it('rescues what a wiped Redis forgot', async () => {
    const redis = ownRedis()
    const notifier = startNotifier(redis)
    const due = new Set(['shard-3'])
    notifier.notify(QUEUES.outbox, 'shard-3')
    await notifier.close()
    await eventually(async () => expect(await redis.producer.llen(`${redis.prefix}:outbox:wait`)).toBe(1))
    await redis.producer.unlink(...(await redis.producer.keys(`${redis.prefix}*`)))

    const before = counted.get('sweeper_rescued_total') ?? 0
    startWorker(redis, {
      sweepEveryMs: 50,
      sweep: () => Promise.resolve([...due]),
      handle: (id) => Promise.resolve(due.delete(id)),
    })
    await eventually(() => expect(due.size).toBe(0))
    expect(counted.get('sweeper_rescued_total') ?? 0).toBeGreaterThan(before)
  })

  it('survives a store that fails', async () => {
    const redis = ownRedis()
    const handled: string[] = []
    const sweep = vi.fn(() =>
      sweep.mock.calls.length === 1 ? Promise.reject(new Error('store')) : Promise.resolve(['a']),
    )
    startWorker(redis, { sweepEveryMs: 20, sweep, handle: (id) => Promise.resolve(handled.push(id)) })
    await eventually(() => expect(handled).toContain('a'))
  })
})

describe('without Redis', () => {
  // Guarantee: work goes on while Redis is down, and goes back to it by itself.
  it('handles swept ids directly, within its concurrency, and hands back', async () => {
    const server = await startRedis()
    const redis = connectRedis({ url: server.url, prefix: 'degraded', logger: stores.runtime.logger })
    endings.push(() => redis.close())
    expect(await redis.waitUntilHealthy(60_000)).toBe(true)
    const due = new Set<string>()
    let parallel = 0
    let parallelMax = 0
    startWorker(redis, {
      concurrency: 2,
      sweepEveryMs: 20,
      degradedAfterMs: 100,
      sweep: () => Promise.resolve([...due]),
      handle: async (id) => {
        parallelMax = Math.max(parallelMax, ++parallel)
        await new Promise((resolve) => setImmediate(resolve))
        parallel--
        due.delete(id)
      },
    })
    const notifier = startNotifier(redis)
    await server.kill()
    await eventually(() => expect(redis.isHealthy()).toBe(false))
    for (const id of ['a', 'b', 'c', 'd', 'e']) due.add(id)
    expect(() => notifier.notify(QUEUES.outbox, 'a')).not.toThrow()
    await eventually(() => expect(due.size).toBe(0))
    expect(parallelMax).toBe(2)
    expect(counted.get('wakeups_dropped_total')).toBeGreaterThan(0)

    await server.restart()
    await eventually(() => expect(redis.isHealthy()).toBe(true))
    due.add('f')
    notifier.notify(QUEUES.outbox, 'f')
    await eventually(() => expect(due.size).toBe(0))
  })

  // Guarantee: a Redis that answers but stores nothing (full, or a replica after a failover) stops no work.
  it('handles swept ids directly while Redis refuses writes', async () => {
    const server = await startRedis()
    const redis = connectRedis({ url: server.url, prefix: 'full', logger: stores.runtime.logger })
    endings.push(() => redis.close())
    expect(await redis.waitUntilHealthy(60_000)).toBe(true)
    const operator = redis.openWorkerConnection()
    await operator.config('SET', 'maxmemory', '1')
    const due = new Set(['a', 'b'])
    startWorker(redis, {
      sweepEveryMs: 20,
      degradedAfterMs: 100,
      sweep: () => Promise.resolve([...due]),
      handle: (id) => Promise.resolve(due.delete(id)),
    })
    await eventually(() => expect(due.size).toBe(0))
    await operator.config('SET', 'maxmemory', '0')
    await eventually(() => expect(redis.isHealthy()).toBe(true))
  })

  it('stops without hanging while Redis is down', async () => {
    const server = await startRedis()
    const redis = connectRedis({ url: server.url, prefix: 'closing', logger: stores.runtime.logger })
    expect(await redis.waitUntilHealthy(60_000)).toBe(true)
    const worker = startWorker(redis, {})
    const notifier = startNotifier(redis)
    await server.kill()
    await eventually(() => expect(redis.isHealthy()).toBe(false))
    notifier.notify(QUEUES.outbox, 'a')
    // A stop that hangs until its deadline exceeds the limit of the test.
    await Promise.all([worker.stop(600_000), notifier.close()])
    await redis.close()
  })

  it('waits for a running job before it stops, but not beyond the deadline', async () => {
    const redis = ownRedis()
    const hold = deferred()
    const handle = vi.fn(() => hold.promise)
    const worker = startWorker(redis, { handle })
    const notifier = startNotifier(redis)
    notifier.notify(QUEUES.outbox, 'a')
    await eventually(() => expect(handle).toHaveBeenCalledTimes(1))
    await worker.stop(100)
    hold.resolve()
  })
})
