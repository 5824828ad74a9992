import { afterEach, expect, test, vi } from 'vitest'
import { type Metrics, QUEUES } from '#shared/ports/runtime.ts'
import { deepTest, sampleOf } from '#test/support/depth.ts'
import { startFreezingProxy } from '#test/support/freezing-proxy.ts'
import { patientRedis } from '#test/support/patient-redis.ts'
import { useStores } from '#test/support/stores.ts'
import { connectRedis } from './connection.ts'
import { createQueueNotifier } from './queue-notifier.ts'
import { createQueueWorker } from './worker.ts'

const stores = useStores()
const endings: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const end of endings.splice(0).reverse()) await end()
})
/** A replacement that a busy machine starts late is replaced as well, each after twice the pause of the one before. */
const soon = { timeout: 90_000, interval: 20 }

/** Its own connections through a proxy, its own key prefix, and what was counted. */
async function world() {
  const proxy = await startFreezingProxy(Number(new URL(stores.redisUrl).port))
  endings.push(() => proxy.close())
  const prefix = `${stores.prefix}-${stores.runtime.random.uuid()}`
  const redis = connectRedis({ url: `redis://127.0.0.1:${proxy.port}`, prefix, logger: stores.runtime.logger })
  endings.push(() => redis.close())
  expect(await redis.waitUntilHealthy(60_000)).toBe(true)
  const counted = new Map<string, number>()
  const metrics: Metrics = {
    count: (name, _labels, by = 1) => void counted.set(name, (counted.get(name) ?? 0) + by),
    gauge: () => undefined,
    observe: () => undefined,
  }
  return { proxy, redis, counted, runtime: { ...stores.runtime, metrics } }
}

// Guarantee: a worker that is connected, calls itself running and takes nothing is replaced, and work goes on.
test('a worker whose connections died without a word is replaced', async () => {
  const { proxy, redis, counted, runtime } = await world()
  const handled: string[] = []
  const worker = createQueueWorker(redis, runtime, {
    ...{ queue: QUEUES.outbox, concurrency: 2, sweepEveryMs: 100, idleAfterMs: 1_000 },
    handle: (id) => Promise.resolve(handled.push(id)),
    sweep: () => Promise.resolve([]),
  })
  endings.push(() => worker.stop(2_000))
  const notifier = createQueueNotifier(redis, runtime)
  endings.push(() => notifier.close())
  // A wake-up is dropped while Redis answers too slowly, and the sweep of this test finds nothing: the next one takes its place.
  await vi.waitFor(() => {
    notifier.notify(QUEUES.outbox, 'before')
    expect(handled).toContain('before')
  }, soon)

  // The producer writes the health key; every other connection is the worker's.
  expect(proxy.freeze(`${redis.prefix}:health`)).toBeGreaterThan(0)
  let sent = 0
  await vi.waitFor(() => {
    sent += 1
    notifier.notify(QUEUES.outbox, `after-${sent}`)
    expect(handled.filter((id) => id.startsWith('after'))).not.toEqual([])
  }, soon)
  expect(counted.get('workers_replaced_total')).toBeGreaterThan(0)
})

// Guarantee: a wake-up that Redis keeps for itself holds nothing up, also where what was found rests a while, as unapplied payments do.
test.each(sampleOf([1, 2], 1))(
  'what wake-ups do not help is handled by the sweep itself, found by one sweep in %i',
  async (every) => {
    const { redis, counted, runtime } = await world()
    // A queue that somebody paused with a tool: jobs go in and none comes out.
    await patientRedis(redis).producer.hset(`${redis.prefix}:${QUEUES.outbox}:meta`, 'paused', 1)
    const due = new Set(['lost'])
    let sweeps = 0
    const worker = createQueueWorker(redis, runtime, {
      ...{ queue: QUEUES.outbox, concurrency: 2, sweepEveryMs: 50, idleAfterMs: 300 },
      handle: (id) => Promise.resolve(due.delete(id)),
      sweep: () => {
        sweeps += 1
        return Promise.resolve(sweeps % every === 0 ? [...due] : [])
      },
    })
    endings.push(() => worker.stop(2_000))
    await vi.waitFor(() => expect(due.size).toBe(0), soon)
    expect(counted.get('sweeper_handled_total')).toBe(1)
  },
)

deepTest('a worker with nothing to do, or with its hands full, is left alone', async () => {
  const { redis, counted, runtime } = await world()
  let release = (): void => undefined
  const held = new Promise<void>((resolve) => {
    release = resolve
  })
  const handled: string[] = []
  let sweeps = 0
  const worker = createQueueWorker(redis, runtime, {
    ...{ queue: QUEUES.mail, concurrency: 1, sweepEveryMs: 100, idleAfterMs: 2_000 },
    handle: async (id) => {
      handled.push(id)
      await held
    },
    sweep: () => {
      sweeps += 1
      return Promise.resolve([])
    },
  })
  endings.push(() => worker.stop(2_000))
  await vi.waitFor(() => expect(sweeps).toBeGreaterThan(40), soon)
  const notifier = createQueueNotifier(redis, runtime)
  for (const id of ['one', 'two', 'three']) notifier.notify(QUEUES.mail, id)
  await notifier.close()
  await vi.waitFor(() => expect(handled).toEqual(['one']), soon)
  const before = sweeps
  await vi.waitFor(() => expect(sweeps).toBeGreaterThan(before + 40), soon)
  release()
  await vi.waitFor(() => expect(new Set(handled)).toEqual(new Set(['one', 'two', 'three'])), soon)
  expect(counted.get('workers_replaced_total') ?? 0).toBe(0)
})
