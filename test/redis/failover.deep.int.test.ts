import { expect, it, vi } from 'vitest'
import { type Metrics, QUEUES } from '#shared/ports/runtime.ts'
import { connectRedis } from '#shared/queues/connection.ts'
import { createQueueNotifier } from '#shared/queues/queue-notifier.ts'
import { createQueueWorker } from '#shared/queues/worker.ts'
import { useRedisServers } from '#test/support/redis-servers.ts'
import { useStores } from '#test/support/stores.ts'

const stores = useStores()
const { startRedis, startSentinels, endings } = useRedisServers()
const soon = { timeout: 60_000, interval: 50 }
const EVERY_MS = 20
const OVERDUE_MS = 1_000

/** Work in MongoDB, a worker of it over Redis, and what became of both. */
function startWork(url: string) {
  const counted = new Map<string, number>()
  const metrics: Metrics = {
    count: (name, _labels, by = 1) => void counted.set(name, (counted.get(name) ?? 0) + by),
    gauge: () => undefined,
    observe: () => undefined,
  }
  const runtime = { ...stores.runtime, metrics }
  const redis = connectRedis({ url, prefix: 'paymesh', logger: runtime.logger })
  const rows = stores.db.connection.collection<{ _id: string; number: number; at: number; doneAt?: number }>(
    'redis_failover',
  )
  const state = { sweeps: true, sent: 0, worstMs: 0 }
  const worker = createQueueWorker(redis, runtime, {
    ...{ queue: QUEUES.webhooks, concurrency: 16, sweepEveryMs: 1_000 },
    handle: async (id) => {
      const row = await rows.findOneAndUpdate({ _id: id, doneAt: { $exists: false } }, { $set: { doneAt: Date.now() } })
      if (row !== null) state.worstMs = Math.max(state.worstMs, Date.now() - row.at)
    },
    sweep: async () => {
      if (!state.sweeps) return []
      const overdue = { doneAt: { $exists: false }, at: { $lt: Date.now() - OVERDUE_MS } }
      return (await rows.find(overdue).limit(1_000).toArray()).map(({ _id }) => _id)
    },
  })
  const notifier = createQueueNotifier(redis, runtime)
  const timer = setInterval(async () => {
    const number = state.sent++
    const id = `row-${number}`
    await rows.insertOne({ _id: id, number, at: Date.now() })
    notifier.notify(QUEUES.webhooks, id)
  }, EVERY_MS)
  endings.push(async () => {
    clearInterval(timer)
    await worker.stop(2_000)
    await notifier.close()
    await redis.close()
    await rows.drop()
  })
  const open = (before = Number.MAX_SAFE_INTEGER) =>
    rows.countDocuments({ doneAt: { $exists: false }, number: { $lt: before } })
  return { redis, counted, state, open, end: () => clearInterval(timer) }
}

// Guarantee: a failover loses no work, and wake-ups arrive again afterwards without any help of a sweep (bullmq#3088, #3185).
it.each(['kill', 'suspend'] as const)(
  'Sentinels replace a primary under load after its %s',
  { timeout: 300_000 },
  async (fault) => {
    const primary = await startRedis(['--repl-diskless-sync-delay', '0'])
    const replica = await startRedis(['--replicaof', `127.0.0.1 ${primary.port}`])
    await vi.waitFor(
      async () => expect(await replica.command('INFO', 'replication')).toMatch(/master_link_status:up/),
      soon,
    )
    const sentinels = await startSentinels(3, primary.port)
    // They must have found each other and the replica before a majority can decide.
    await vi.waitFor(async () => {
      for (const one of sentinels)
        expect(String(await one.command('INFO', 'sentinel'))).toMatch(/status=ok,.*slaves=1,sentinels=3/)
    }, soon)
    const hosts = sentinels.map(({ port }) => `127.0.0.1:${port}`).join(',')
    const { redis, state, open, counted, end } = startWork(`redis+sentinel://${hosts}/mymaster`)
    expect(await redis.waitUntilHealthy(60_000)).toBe(true)
    await vi.waitFor(() => expect(state.sent).toBeGreaterThan(100), soon)

    await primary[fault]()
    await vi.waitFor(() => expect(redis.isHealthy()).toBe(false), soon)
    await vi.waitFor(async () => expect(await replica.command('ROLE')).toContain('master'), soon)
    expect(await redis.waitUntilHealthy(60_000)).toBe(true)
    // The former primary comes back, and is demoted.
    if (fault === 'suspend') primary.resume()
    const afterwards = state.sent
    await vi.waitFor(async () => expect(await open(afterwards)).toBe(0), soon)
    const duringMs = state.worstMs

    Object.assign(state, { sweeps: false, worstMs: 0 })
    const dropped = () => counted.get('wakeups_dropped_total') ?? 0
    const droppedBefore = dropped()
    const quiet = state.sent
    await vi.waitFor(() => expect(state.sent).toBeGreaterThan(quiet + 200), soon)
    end()
    // A slow machine may drop a wake-up; every other one arrives.
    await vi.waitFor(async () => expect(await open()).toBeLessThanOrEqual(dropped() - droppedBefore), soon)
    process.stderr.write(
      `${fault}: ${state.sent} rows, latest during the failover ${duringMs} ms, afterwards ${state.worstMs} ms; ${JSON.stringify(Object.fromEntries(counted))}\n`,
    )
    state.sweeps = true
    await vi.waitFor(async () => expect(await open()).toBe(0), soon)
  },
)

// Guarantee: a Redis that takes wake-ups and delivers none costs seconds: sweeps take over as soon as it is found out.
it.each(['bzpopmin', 'evalsha'] as const)('work goes on when Redis refuses %s from now on', async (command) => {
  const server = await startRedis()
  const { redis, state, open, end } = startWork(server.url)
  expect(await redis.waitUntilHealthy(60_000)).toBe(true)
  await vi.waitFor(() => expect(state.sent).toBeGreaterThan(50), soon)
  await server.command('ACL', 'SETUSER', 'default', `-${command}`)
  await vi.waitFor(() => expect(redis.isHealthy()).toBe(false), soon)
  state.worstMs = 0
  await vi.waitFor(() => expect(state.worstMs).toBeGreaterThan(0), soon)
  end()
  await vi.waitFor(async () => expect(await open()).toBe(0), soon)
  process.stderr.write(`without ${command}: ${state.sent} rows, latest ${state.worstMs} ms\n`)
})

// What no probe can find, because Redis does what it is asked: the sweep finds that waking did not help.
it('work of a queue that is paused with a tool goes on', async () => {
  const server = await startRedis()
  const { redis, state, open, end } = startWork(server.url)
  expect(await redis.waitUntilHealthy(60_000)).toBe(true)
  await vi.waitFor(() => expect(state.sent).toBeGreaterThan(50), soon)
  const beforeMs = state.worstMs
  await server.command('HSET', `${redis.prefix}:${QUEUES.webhooks}:meta`, 'paused', 1)
  const paused = state.sent
  await vi.waitFor(() => expect(state.sent).toBeGreaterThan(paused + 50), soon)
  end()
  await vi.waitFor(async () => expect(await open()).toBe(0), soon)
  process.stderr.write(`paused: ${state.sent} rows, latest before ${beforeMs} ms, then ${state.worstMs} ms\n`)
})
