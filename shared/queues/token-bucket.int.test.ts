import { describe, expect, it } from 'vitest'
import { awaitingRedis, patientRedis } from '#test/support/patient-redis.ts'
import { useStores } from '#test/support/stores.ts'
import { createMemoryTokenBuckets, createTokenBuckets } from './token-bucket.ts'

const stores = useStores()
const RULE = { name: 'test', capacity: 5, intervalMs: 60_000 }

describe('token buckets', () => {
  it(
    'let so many through at once over all processes, each payer alone',
    awaitingRedis(async () => {
      const { runtime } = stores
      const redis = patientRedis(stores.redis)
      const processes = [1, 2].map(() => createTokenBuckets({ redis, metrics: runtime.metrics }))
      // So long that nothing comes back while a slow machine asks.
      const rule = { ...RULE, intervalMs: 3_600_000 }
      const take = (who: string) =>
        Promise.all(processes.flatMap((one) => Array.from({ length: 5 }, () => one.take(rule, who))))
      const taken = await take('a')
      expect(taken.filter(({ allowed }) => allowed)).toHaveLength(5)
      for (const { allowed, retryAfter } of taken) if (!allowed) expect(retryAfter).toBeGreaterThan(3_000)
      expect((await take('b')).filter(({ allowed }) => allowed)).toHaveLength(5)
    }),
  )

  /** Guarantee: where a clock was set back, or the next primary's is behind, nobody is refused for as long as it was ahead. */
  it(
    'refuse nobody after a step of the clock, on Redis and in the process',
    awaitingRedis(async () => {
      const { runtime } = stores
      const redis = patientRedis(stores.redis)
      await redis.producer.set(`${redis.prefix}:bucket:test:stepped`, Date.now() + 3_600_000)
      const shared = createTokenBuckets({ redis, metrics: runtime.metrics })
      const taken = await Promise.all(Array.from({ length: 6 }, () => shared.take(RULE, 'stepped')))
      expect(taken.map(({ allowed }) => allowed)).toEqual([true, true, true, true, true, false])
      let now = 7_200_000
      const alone = createMemoryTokenBuckets(() => now)
      expect((await alone.take(RULE, 'a')).allowed).toBe(true)
      now -= 3_600_000
      expect((await alone.take(RULE, 'a')).allowed).toBe(true)
    }),
  )

  /** Guarantee: a Redis that is down or hangs neither lifts the limit nor keeps anybody waiting. */
  it('count in the process while Redis is away, and give tokens back in time', async () => {
    let now = 1_000_000
    const never = { eval: () => new Promise(() => undefined) }
    const redis = { prefix: 'x', isHealthy: () => true, producer: never } as never
    const buckets = createTokenBuckets({ redis, metrics: stores.runtime.metrics, now: () => now })
    const taken = await Promise.all(Array.from({ length: 7 }, () => buckets.take(RULE, 'a')))
    expect(taken.filter(({ allowed }) => allowed)).toHaveLength(5)
    expect(taken.at(-1)).toEqual({ allowed: false, retryAfter: 60 })
    now += 60_000
    expect((await buckets.take(RULE, 'a')).allowed).toBe(true)
    expect((await buckets.take(RULE, 'a')).allowed).toBe(false)
  })
})
