import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { connectRedis } from '#shared/queues/connection.ts'
import { createRateLimiter } from '#shared/queues/rate-limiter.ts'
import { createMetrics } from '#shared/runtime/observability/metrics.ts'
import { openApi, type TestApi } from '#test/support/api.ts'
import { deepTest } from '#test/support/depth.ts'
import { localAdmissions } from '#test/support/local-admissions.ts'
import { useStores } from '#test/support/stores.ts'
import { expectRateHeaders } from './rate-headers.fixture.ts'

const stores = useStores()
let api: TestApi
const BODY = { amount: '25.00', currency: 'USD' }

beforeAll(async () => {
  api = await openApi(stores)
})
afterAll(() => api.close())

/**
 * Eighty requests of a new key. A Redis that takes longer than 50 ms is not awaited: the process then counts alone, with a bucket
 * that is full, and such a burst says nothing of the one in Redis. It is sent again with another key.
 */
async function burstOf80() {
  const once = async () => {
    const { apiKey } = await api.newKey('test')
    const before = await localAdmissions(stores.runtime.metrics)
    const startedAt = performance.now()
    const answers: Awaited<ReturnType<TestApi['call']>>[] = []
    for (let batch = 0; batch < 8; batch += 1) {
      const requests = [...Array(10)].map(() => api.call('GET', '/invoices?limit=1', { key: apiKey }))
      answers.push(...(await Promise.all(requests)))
    }
    expect(await localAdmissions(stores.runtime.metrics)).toBe(before)
    return { answers, seconds: (performance.now() - startedAt) / 1_000 }
  }
  return await vi.waitFor(once, { timeout: 60_000, interval: 600 })
}

describe('the rate limit', () => {
  it('lets a burst of 60 through, then answers 429 with a time to wait', async () => {
    const { answers, seconds } = await burstOf80()
    const passed = answers.filter(({ status }) => status === 200)
    const refused = answers.filter(({ status }) => status === 429)
    expect(passed.length + refused.length).toBe(80)
    // Two tokens come back each second while the burst runs.
    expect(passed.length).toBeGreaterThanOrEqual(60)
    expect(passed.length).toBeLessThanOrEqual(61 + 2 * seconds)
    for (const answer of refused) {
      expect(answer.json.error.code).toBe('RATE_LIMITED')
      expect(Number(answer.headers.get('retry-after'))).toBeGreaterThanOrEqual(1)
      expect(answer.headers.get('x-ratelimit-remaining')).toBe('0')
      expectRateHeaders(answer)
    }
    expect((await api.call('GET', '/invoices?limit=1')).status).toBe(200)
  })

  // Guarantee: behind a proxy, one caller without a key does not use up the limit of all others.
  it('counts callers without a key by the address that the proxy in front saw', async () => {
    const proxied = await openApi(stores, { deps: () => ({ trustedProxies: 1 }) })
    try {
      const from = async (address: string) => {
        const { headers } = await proxied.call('GET', '/invoices', {
          key: null,
          headers: { 'x-forwarded-for': address },
        })
        return Number(headers.get('x-ratelimit-remaining'))
      }
      expect(await from('198.51.100.31')).toBe(59)
      expect(await from('198.51.100.32')).toBe(59)
      // What the caller itself puts in front of the proxy's entry changes nothing.
      expect(await from('203.0.113.9, 198.51.100.33')).toBe(59)
    } finally {
      await proxied.close()
    }
  })

  it('counts down and says when the bucket is full again', async () => {
    const { apiKey } = await api.newKey('test')
    const before = Math.floor(Date.now() / 1_000)
    const { headers } = await api.call('GET', '/invoices?limit=1', { key: apiKey })
    expect(headers.get('x-ratelimit-remaining')).toBe('59')
    const reset = Number(headers.get('x-ratelimit-reset'))
    expect(reset).toBeGreaterThanOrEqual(before)
    expect(reset).toBeLessThanOrEqual(Math.floor(Date.now() / 1_000) + 3)
  })
})

describe('without Redis', () => {
  it('works on in-process buckets and reads keys from the store', async () => {
    const redis = connectRedis({ url: 'redis://127.0.0.1:1', prefix: 'none', logger: stores.runtime.logger })
    const alone = await openApi(stores, { redis })
    try {
      const { record, apiKey } = await alone.newKey('test')
      const first = await alone.call('POST', '/invoices', {
        key: apiKey,
        body: BODY,
        headers: { 'idempotency-key': 'r' },
      })
      expect(first.status).toBe(201)
      expectRateHeaders(first)
      const again = await alone.call('POST', '/invoices', {
        key: apiKey,
        body: BODY,
        headers: { 'idempotency-key': 'r' },
      })
      expect(again.text).toBe(first.text)
      const answers = await Promise.all(
        [...Array(200)].map(() => alone.call('GET', '/invoices?limit=1', { key: apiKey })),
      )
      expect(answers.some(({ status }) => status === 429)).toBe(true)
      await alone.revoke(record.id)
      alone.engine.advance(60_000)
      expect((await alone.call('GET', '/payments', { key: apiKey })).status).not.toBe(200)
    } finally {
      await alone.close()
      await redis.close()
    }
  })

  it('does not wait for a Redis that hangs', async () => {
    const hanging = { ...stores.redis, isHealthy: () => true, producer: hangingProducer() } as never
    const limiter = createRateLimiter({ redis: hanging, metrics: createMetrics({ defaults: false }) })
    const request = {
      bucket: 'key:x',
      keyId: 'x',
      workspaceId: 'w',
      publish: { keyEpoch: null, workspaceEpoch: null },
      marker: null,
    }
    const first = await limiter.admit(request)
    expect([first.allowed, first.remaining, first.keyEpoch]).toEqual([true, 59, null])
    expect((await limiter.admit(request)).allowed).toBe(true)
  })
})

// Guarantee: a key left by a killed process is free after 5 s, and one of a request that still runs is not.
deepTest('renews the mark of an idempotent request while it runs, and of no other', async () => {
  const { producer, prefix } = stores.redis
  const limiter = createRateLimiter({ redis: stores.redis, metrics: createMetrics({ defaults: false }) })
  const publish = { keyEpoch: null, workspaceEpoch: null }
  const request = { bucket: 'key:marks', keyId: null, workspaceId: null, publish }
  const ended = { id: 'ended', owner: 'req_ended' }
  // A Redis that does not answer within 50 ms leaves a mark unknown, and is asked again half a second later.
  const running = await vi.waitFor(
    async () => {
      const mark = { id: randomUUID(), owner: 'req_running' }
      expect((await limiter.admit({ ...request, marker: mark })).marker).toBe('set')
      return mark
    },
    { timeout: 60_000, interval: 600 },
  )
  const key = `${prefix}:running:${running.id}`
  const [first = 0, second = 0] = await leftOf(producer, [key], 2)
  expect(first).toBeLessThanOrEqual(5_000)
  expect(second).toBeLessThanOrEqual(first)
  await limiter.admit({ ...request, marker: ended })
  limiter.clearMarker(ended)
  // Life only ever runs down, unless somebody renews it, between any two looks.
  let seen = second
  await vi.waitFor(
    async () => {
      const [left = 0] = await leftOf(producer, [key], 1)
      const before = seen
      seen = left
      expect(left).toBeGreaterThan(before)
    },
    { timeout: 60_000, interval: 1 },
  )
  expect(await producer.exists(`${prefix}:running:ended`)).toBe(0)
  limiter.clearMarker(running)
  await vi.waitFor(async () => expect(await producer.exists(key)).toBe(0))
})

// Guarantee: a Redis that is slow, not down, payment methods no idempotency key: a request that is over is not "still running".
it('clears the mark that a slow Redis set after the limiter had gone on without it', async () => {
  const { producer, prefix } = stores.redis
  const slow = slowProducer(producer)
  const limiter = createRateLimiter({
    redis: { ...stores.redis, producer: slow.producer },
    metrics: createMetrics({ defaults: false }),
    // No time passes, so the pause after its silence does not end.
    now: () => 0,
  })
  const publish = { keyEpoch: null, workspaceEpoch: null }
  const request = { bucket: 'key:slow', keyId: null, workspaceId: null, publish }
  const marker = { id: 'slow', owner: 'req_slow' }
  expect((await limiter.admit({ ...request, marker })).marker).toBe('unknown')
  slow.answer()
  expect(await producer.exists(`${prefix}:running:slow`)).toBe(1)
  limiter.clearMarker(marker)
  await vi.waitFor(async () => expect(await producer.exists(`${prefix}:running:slow`)).toBe(0))
  // A Redis that was not asked sets nothing.
  expect((await limiter.admit({ ...request, marker })).marker).toBe('none')
})

/** Milliseconds of life that keys have left, read so often in a row. */
async function leftOf(producer: (typeof stores.redis)['producer'], keys: readonly string[], times: number) {
  const left: number[] = []
  for (let time = 0; time < times; time += 1) for (const key of keys) left.push(await producer.pttl(key))
  return left
}

// Guarantee: after a step of Redis's clock, or a failover to one that is behind, no key is refused for as long as the clock was ahead.
it('refuses nobody because the clock of Redis was set back', async () => {
  let isHealthy = true
  const redis = { ...stores.redis, isHealthy: () => isHealthy }
  const steps = { ms: 0 }
  const now = () => Date.now() + steps.ms
  const limiter = createRateLimiter({ redis, metrics: createMetrics({ defaults: false }), now })
  const publish = { keyEpoch: null, workspaceEpoch: null }
  const request = { bucket: 'key:stepped', keyId: null, workspaceId: null, publish, marker: null }
  await redis.producer.set(`${redis.prefix}:rate:${request.bucket}`, Date.now() + 3_600_000)
  expect(await limiter.admit(request)).toMatchObject({ allowed: true, remaining: 59 })
  isHealthy = false
  for (let i = 0; i < 60; i += 1) await limiter.admit(request)
  expect((await limiter.admit(request)).allowed).toBe(false)
  steps.ms = -3_600_000
  expect(await limiter.admit(request)).toMatchObject({ allowed: true, remaining: 59 })
})

// Guarantee: a Redis that comes and goes does not grant a second burst.
it('goes on in the process from where Redis left the bucket', async () => {
  let isHealthy = true
  const redis = { ...stores.redis, isHealthy: () => isHealthy }
  const limiter = createRateLimiter({ redis, metrics: createMetrics({ defaults: false }) })
  const publish = { keyEpoch: null, workspaceEpoch: null }
  const request = { bucket: 'key:flicker', keyId: null, workspaceId: null, publish, marker: null }
  const startedAt = performance.now()
  for (let i = 0; i < 40; i += 1) await limiter.admit(request)
  isHealthy = false
  const { remaining } = await limiter.admit(request)
  const refilled = (performance.now() - startedAt) / 500
  expect(remaining).toBeLessThanOrEqual(19 + Math.ceil(refilled))
})

/** Each command is sent at once; its answer is held back until `answer` is called. */
function slowProducer(producer: (typeof stores.redis)['producer']) {
  let answer = (): void => undefined
  const released = new Promise<void>((resolve) => {
    answer = resolve
  })
  const evalsha = async (...call: Parameters<typeof producer.evalsha>) => {
    const value = await producer.evalsha(...call)
    await released
    return value
  }
  const held = new Proxy(producer, { get: (real, name) => (name === 'evalsha' ? evalsha : Reflect.get(real, name)) })
  return { producer: held, answer: () => answer() }
}

function hangingProducer() {
  const never = () => new Promise(() => undefined)
  return { status: 'ready', evalsha: never, pipeline: () => ({ exec: never }) }
}
