import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { type Metrics, QUEUES, type Runtime } from '#shared/ports/runtime.ts'
import { awaitingRedis, patientRedis } from '#test/support/patient-redis.ts'
import { useStores } from '#test/support/stores.ts'
import { connectRedis } from './connection.ts'
import { createMemorySignals } from './memory/memory-signals.ts'
import type { QueueWorkerOptions } from './queue-worker-options.ts'
import { createRedisSignals } from './redis-signals.ts'
import type { Signals } from './signals.ts'

const stores = useStores()
const endings: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const end of endings.splice(0).reverse()) await end()
})

const counted = new Map<string, number>()
const metrics: Metrics = {
  count: (name, _labels, by = 1) => void counted.set(name, (counted.get(name) ?? 0) + by),
  gauge: () => undefined,
  observe: () => undefined,
}
const runtime = (): Runtime => ({ ...stores.runtime, metrics })

/** Both implementations. Everything below holds for either: services are written against it. */
const IMPLEMENTATIONS: Readonly<Record<string, () => Promise<Signals>>> = {
  redis: async () => {
    const prefix = `${stores.prefix}-${stores.runtime.random.uuid()}`
    const redis = connectRedis({ url: stores.redisUrl, prefix, logger: stores.runtime.logger })
    endings.push(() => redis.close())
    expect(await redis.waitUntilHealthy(60_000)).toBe(true)
    return createRedisSignals(patientRedis(redis))
  },
  memory: () => Promise.resolve(createMemorySignals(metrics)),
}

/** Far longer than any test, for workers that must not be helped by their sweep. */
const NEVER_MS = 3_600_000

function barrier() {
  let open: () => void = () => undefined
  const opened = new Promise<void>((resolve) => {
    open = resolve
  })
  return { opened, open }
}

const eventually = (check: () => unknown) => vi.waitFor(check, { timeout: 30_000, interval: 10 })

describe.each(Object.entries(IMPLEMENTATIONS))('signals on %s', (_name, open) => {
  let signals: Signals
  beforeEach(async () => {
    signals = await open()
    counted.clear()
  })

  const startWorker = (options: Partial<QueueWorkerOptions>) => {
    const worker = signals.startWorker(runtime(), {
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
  const openNotifier = () => {
    const notifier = signals.openNotifier(runtime())
    endings.push(() => notifier.close())
    return notifier
  }

  it('run the handler once for a burst of wake-ups of one id', async () => {
    const handled: string[] = []
    startWorker({ handle: (id) => Promise.resolve(handled.push(id)) })
    const notifier = openNotifier()
    for (let times = 0; times < 50; times++) notifier.notify(QUEUES.outbox, 'shard-1')
    notifier.notify(QUEUES.outbox, 'shard-2')
    await eventually(() => expect([...handled].sort()).toEqual(['shard-1', 'shard-2']))
  })

  // Guarantee: a wake-up that arrives while its job runs is not lost, however many arrive.
  it('run the handler once more when woken while it runs, and never twice at once', async () => {
    const first = barrier()
    let parallel = 0
    let parallelMax = 0
    const handle = vi.fn(async () => {
      parallelMax = Math.max(parallelMax, ++parallel)
      if (handle.mock.calls.length === 1) await first.opened
      parallel--
    })
    startWorker({ handle })
    const [notifier, other] = [openNotifier(), openNotifier()]
    notifier.notify(QUEUES.outbox, 'shard-1')
    await eventually(() => expect(handle).toHaveBeenCalledTimes(1))
    for (let times = 0; times < 3; times++) notifier.notify(QUEUES.outbox, 'shard-1')
    other.notify(QUEUES.outbox, 'shard-1')
    await Promise.all([notifier.close(), other.close()])
    first.open()
    await eventually(() => expect(handle).toHaveBeenCalledTimes(2))
    expect(parallelMax).toBe(1)
  })

  it('keep to the concurrency of the worker, and let no id wait for a busy one', async () => {
    const hold = barrier()
    const started: string[] = []
    startWorker({
      concurrency: 2,
      handle: async (id) => {
        started.push(id)
        if (id === 'slow') await hold.opened
      },
    })
    const notifier = openNotifier()
    notifier.notify(QUEUES.outbox, 'slow')
    await eventually(() => expect(started).toEqual(['slow']))
    for (const id of ['slow', 'a', 'b', 'c']) notifier.notify(QUEUES.outbox, id)
    await eventually(() => expect([...started].sort()).toEqual(['a', 'b', 'c', 'slow']))
    hold.open()
    await eventually(() => expect(started.filter((id) => id === 'slow')).toHaveLength(2))
  })

  it('count a failed job and leave it to the next wake-up', async () => {
    const handle = vi.fn(() =>
      handle.mock.calls.length === 1 ? Promise.reject(new Error('first')) : Promise.resolve(),
    )
    startWorker({ handle })
    const notifier = openNotifier()
    notifier.notify(QUEUES.outbox, 'shard-1')
    await eventually(() => expect(counted.get('jobs_failed_total')).toBe(1))
    await eventually(() => {
      notifier.notify(QUEUES.outbox, 'shard-1')
      expect(handle.mock.calls.length).toBeGreaterThan(1)
    })
  })

  // Guarantee: work of another process, of a killed one or without any wake-up is found in the store.
  it('handle what only the sweep finds, and survive a store that fails', async () => {
    const due = new Set(['shard-3'])
    const sweep = vi.fn(() =>
      sweep.mock.calls.length === 1 ? Promise.reject(new Error('store')) : Promise.resolve([...due]),
    )
    startWorker({ sweepEveryMs: 20, sweep, handle: (id) => Promise.resolve(due.delete(id)) })
    await eventually(() => expect(due.size).toBe(0))
    expect(counted.get('sweeps_failed_total')).toBe(1)
    expect(counted.get('sweeper_rescued_total')).toBeGreaterThan(0)
  })

  it('take nothing more once stopped, and let the running job end', async () => {
    const hold = barrier()
    const ended: string[] = []
    const started: string[] = []
    const worker = startWorker({
      handle: async (id) => {
        started.push(id)
        await hold.opened
        ended.push(id)
      },
    })
    const notifier = openNotifier()
    notifier.notify(QUEUES.outbox, 'a')
    await eventually(() => expect(started).toEqual(['a']))
    const stopped = worker.stop(30_000)
    notifier.notify(QUEUES.outbox, 'b')
    hold.open()
    await stopped
    expect(ended).toEqual(['a'])
    expect(started).toEqual(['a'])
  })

  it('do not wait beyond the deadline for a job that hangs', async () => {
    const hold = barrier()
    const handle = vi.fn(() => hold.opened)
    const worker = startWorker({ handle })
    openNotifier().notify(QUEUES.outbox, 'a')
    await eventually(() => expect(handle).toHaveBeenCalledTimes(1))
    await worker.stop(100)
    hold.open()
  })

  it('count waiting and running jobs of each queue', async () => {
    const hold = barrier()
    const handle = vi.fn(() => hold.opened)
    startWorker({ concurrency: 1, handle })
    const notifier = openNotifier()
    notifier.notify(QUEUES.outbox, 'a')
    await eventually(() => expect(handle).toHaveBeenCalledTimes(1))
    notifier.notify(QUEUES.outbox, 'b')
    const counts = signals.createQueueCounts()
    endings.push(() => counts.close())
    await vi.waitFor(
      async () => expect((await counts.read())?.outbox).toMatchObject({ waiting: 1, active: 1, failed: 0 }),
      { timeout: 30_000, interval: 20 },
    )
    expect((await counts.read())?.mail).toMatchObject({ waiting: 0, active: 0 })
    hold.open()
  })

  describe('admission', () => {
    const request = (more: object = {}) => ({
      bucket: 'key:k1',
      keyId: 'k1',
      workspaceId: 'w1',
      publish: { keyEpoch: null, workspaceEpoch: null },
      marker: null,
      ...more,
    })

    it(
      'lets a burst of 60 through and says when to come back',
      awaitingRedis(async () => {
        const limiter = signals.createRateLimiter(metrics)
        const answers = []
        for (let times = 0; times < 70; times++) answers.push(await limiter.admit(request()))
        const allowed = answers.filter((one) => one.allowed).length
        // Two tokens come back each second while the burst runs.
        expect(allowed).toBeGreaterThanOrEqual(60)
        expect(answers[0]?.remaining).toBe(59)
        for (const one of answers.filter(({ allowed }) => !allowed)) expect(one.retryAfter).toBeGreaterThanOrEqual(1)
        expect((await limiter.admit(request({ bucket: 'key:k2', keyId: 'k2' }))).allowed).toBe(true)
      }),
    )

    // Guarantee: a revoked key is refused at once where the revocation and the request share these signals.
    it(
      'publishes and raises epochs, and never lowers one',
      awaitingRedis(async () => {
        const limiter = signals.createRateLimiter(metrics)
        const epochs = signals.createEpochStore()
        expect(await limiter.admit(request())).toMatchObject({ keyEpoch: null, workspaceEpoch: null })
        const published = request({ publish: { keyEpoch: 3, workspaceEpoch: 5 } })
        expect(await limiter.admit(published)).toMatchObject({ keyEpoch: 3, workspaceEpoch: 5 })
        await epochs.setKeyEpoch('k1', 4)
        await epochs.setWorkspaceEpoch('w1', 2)
        expect(await limiter.admit(published)).toMatchObject({ keyEpoch: 4, workspaceEpoch: 5 })
      }),
    )

    it(
      'marks a running operation once, for its owner only',
      awaitingRedis(async () => {
        const [limiter, second] = [signals.createRateLimiter(metrics), signals.createRateLimiter(metrics)]
        const marked = (owner: string) => request({ marker: { id: 'm1', owner } })
        expect((await limiter.admit(marked('a'))).marker).toBe('set')
        expect((await second.admit(marked('b'))).marker).toBe('busy')
        second.clearMarker({ id: 'm1', owner: 'b' })
        expect((await second.admit(marked('b'))).marker).toBe('busy')
        limiter.clearMarker({ id: 'm1', owner: 'a' })
        await vi.waitFor(async () => expect((await second.admit(marked('b'))).marker).toBe('set'))
      }),
    )

    it(
      'counts costly actions by their actor',
      awaitingRedis(async () => {
        const buckets = [signals.createTokenBuckets(metrics), signals.createTokenBuckets(metrics)]
        const rule = { name: 'test', capacity: 5, intervalMs: 600_000 }
        const taken = await Promise.all(Array.from({ length: 12 }, (_, at) => buckets[at % 2]?.take(rule, 'a')))
        expect(taken.filter((one) => one?.allowed)).toHaveLength(5)
        expect((await buckets[0]?.take(rule, 'b'))?.allowed).toBe(true)
      }),
    )
  })
})

describe('queues in memory', () => {
  // Attack: a payer or tenant who causes more work than a worker takes fills no memory, and the sweep finds what was dropped.
  it('hold a bounded number of ids', async () => {
    counted.clear()
    const signals = createMemorySignals(metrics)
    const hold = barrier()
    const options = { queue: QUEUES.webhooks, concurrency: 1, sweepEveryMs: NEVER_MS }
    const handle = vi.fn(() => hold.opened)
    const worker = signals.startWorker(runtime(), { ...options, handle, sweep: () => Promise.resolve([]) })
    const notifier = signals.openNotifier(runtime())
    for (let id = 0; id < 100_500; id++) notifier.notify(QUEUES.webhooks, `endpoint-${id}`)
    expect((await signals.createQueueCounts().read())?.webhooks.waiting).toBe(100_000)
    expect(counted.get('wakeups_dropped_total')).toBe(500)
    await eventually(() => expect(handle).toHaveBeenCalledTimes(1))
    const stopped = worker.stop(30_000)
    hold.open()
    await stopped
    expect(handle).toHaveBeenCalledTimes(1)
  })

  it('drop the wake-ups of a queue that no worker takes, without throwing', () => {
    counted.clear()
    const notifier = createMemorySignals(metrics).openNotifier(runtime())
    expect(() => notifier.notify(QUEUES.mail, 'm1')).not.toThrow()
    expect(counted.get('wakeups_dropped_total')).toBe(1)
  })
})
