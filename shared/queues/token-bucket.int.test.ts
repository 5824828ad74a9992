import { describe, expect, it } from 'vitest'
import { awaitingRedis, patientRedis } from '#test/support/patient-redis.ts'
import { useStores } from '#test/support/stores.ts'
import { createTokenBuckets } from './token-bucket.ts'

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
