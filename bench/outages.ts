import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Redis } from 'ioredis'
import { findRedisServer } from '#dev/embedded/find-redis-server.ts'
import { startRedisStore } from '#dev/embedded/redis-store.ts'
import { type Child, pause } from './child.ts'
import { type DeliveryStage, openDeliveryStage } from './delivery-stage.ts'
import type { BenchOptions } from './options.ts'
import { type Rig, withRig } from './rig.ts'
import { medianAndRange, percentile } from './statistics.ts'

const ROWS = 10_000
const ROWS_WITHOUT_REDIS = 6_000
/** Deliveries sent before a fault. */
const UNDER_WAY = 1_000
const POLL_MS = 20

/**
 * How long webhooks pause after kill -9 of the dispatcher with 10,000 pending rows and after Redis lost all data, and their
 * rate without Redis. Redis is a separate server of this benchmark.
 */
export async function benchOutages(options: BenchOptions): Promise<void> {
  const { print } = options
  const dir = mkdtempSync(join(tmpdir(), 'paymesh-bench-redis-'))
  const redis = await startRedisStore({ binary: await findRedisServer(print), dir, preferredPort: 0 })
  try {
    await withRig({ ...options, redisUrl: redis.url }, async (rig) => {
      const stage = await openDeliveryStage(rig)
      const figures = { killed: [] as number[], wiped: [] as number[], normal: [] as number[] }
      for (let round = 1; round <= options.rounds; round += 1) {
        const killed = await afterKill(rig, stage)
        figures.killed.push(killed.resumedSeconds)
        print(`  round ${round}: kill -9: ${killed.text}`)
        const webhooks = await rig.startService('webhooks')
        figures.wiped.push(await afterWipe(stage, redis.url))
        print(`  round ${round}: Redis emptied: longest pause ${figures.wiped.at(-1)?.toFixed(2)} s`)
        figures.normal.push(await rateOf(stage))
        await webhooks.stop()
      }
      const without = await withoutRedis(rig, stage, redis)
      print(`kill -9 of the dispatcher: sending goes on after ${medianAndRange(figures.killed, 1)} s (at most 12)`)
      print(`Redis emptied: longest pause ${medianAndRange(figures.wiped, 2)} s (at most 3)`)
      const share = (100 * without.perSecond) / percentile(figures.normal, 0.5)
      print(`without Redis: ${without.perSecond.toFixed(0)}/s, ${share.toFixed(0)} % of normal (at least 50)`)
      print(`without Redis the API answered ${without.created} of ${without.asked} creates with 201`)
    })
  } finally {
    if (existsSync(dir)) await redis.stop()
    rmSync(dir, { recursive: true, force: true })
  }
}

async function afterKill(rig: Rig, stage: DeliveryStage) {
  const first = await rig.startService('webhooks')
  await stage.makeDue(ROWS / stage.endpoints.length)
  await untilCount(stage, UNDER_WAY)
  await first.kill()
  const killedAt = performance.timeOrigin + performance.now()
  // At once, as a supervisor would.
  const second = await rig.startService('webhooks')
  await stage.settle()
  const arrivals = await stage.take()
  await second.stop()
  const later = arrivals.filter(({ at }) => at > killedAt)
  const resumedSeconds = (Math.min(...later.map(({ at }) => at)) - killedAt) / 1_000
  const everywhere = stage.endpoints.map((_, index) => {
    const times = later.filter(({ receiver }) => receiver === index).map(({ at }) => at)
    return times.length === 0 ? 0 : (Math.min(...times) - killedAt) / 1_000
  })
  const twice = arrivals.length - new Set(arrivals.map(({ deliveryId }) => deliveryId)).size
  const text = `first after ${resumedSeconds.toFixed(1)} s, at the last endpoint after ${Math.max(...everywhere).toFixed(1)} s, ${twice} of ${ROWS} twice`
  return { resumedSeconds, text }
}

async function afterWipe(stage: DeliveryStage, redisUrl: string): Promise<number> {
  await stage.makeDue(ROWS / stage.endpoints.length)
  await untilCount(stage, UNDER_WAY)
  const client = new Redis(redisUrl)
  await client.flushall()
  const wipedAt = performance.timeOrigin + performance.now()
  client.disconnect()
  await stage.settle()
  const times = (await stage.take()).map(({ at }) => at).filter((at) => at > wipedAt)
  const sorted = [wipedAt, ...times.sort((a, b) => a - b)]
  return Math.max(...sorted.map((at, index) => at - (sorted[index - 1] ?? at))) / 1_000
}

async function rateOf(stage: DeliveryStage, rows = ROWS): Promise<number> {
  await stage.makeDue(rows / stage.endpoints.length)
  await stage.settle()
  const times = (await stage.take()).map(({ at }) => at)
  return (0.9 * times.length) / ((percentile(times, 0.95) - percentile(times, 0.05)) / 1_000)
}

/** Last, because Redis stays down. */
async function withoutRedis(rig: Rig, stage: DeliveryStage, redis: { stop(): Promise<void> }) {
  const webhooks: Child = await rig.startService('webhooks')
  await redis.stop()
  // Until every process has detected it.
  await pause(4_000)
  const perSecond = await rateOf(stage, ROWS_WITHOUT_REDIS)
  const { created, refused } = await stage.create({ perSecond: 20 }, 3)
  await webhooks.stop()
  const asked = created.length + Object.values(refused).reduce((sum, count) => sum + count, 0)
  return { perSecond, created: created.length, asked }
}

async function untilCount(stage: DeliveryStage, count: number): Promise<void> {
  while ((await stage.count()) < count) await pause(POLL_MS)
}
