import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { INVOICES } from '#shared/db/invoices/invoice-model.ts'
import type { ApiAnswer, TestApi } from '#test/support/api.ts'
import { sampleOf } from '#test/support/depth.ts'
import { useStores } from '#test/support/stores.ts'
import { outcome } from './contract-stage.ts'
import { openTwoProcesses, type TwoProcesses } from './second-process.ts'

type Target = Pick<TestApi, 'call'>
const stores = useStores()
const PATH = '/products?limit=1'
let world: TwoProcesses
let both: readonly Target[]

beforeAll(async () => {
  world = await openTwoProcesses(stores)
  both = [world.here, world.there]
})
afterAll(() => world.close())
afterEach(() => world.continueRedis())

/** A key that both processes have used a moment ago, in its own workspace. */
async function warmKey() {
  const { id: workspaceId } = await world.here.newWorkspace()
  const { record, apiKey } = await world.here.newKey('test', undefined, workspaceId)
  for (const to of [...both, ...both]) expect((await to.call('GET', PATH, { key: apiKey })).status).toBe(200)
  return { workspaceId, keyId: record.id, key: apiKey }
}

async function outcomes(key: string | null, method = 'GET', path = PATH, body?: object) {
  const request = { key, ...(body !== undefined && { body }) }
  return (await Promise.all(both.map((to) => to.call(method, path, request)))).map(outcome)
}

const twice = <T>(value: T): readonly T[] => [value, value]

/** Redis and how it fails: before something is taken away, and right after. */
const REDIS: readonly (readonly [string, () => unknown, () => unknown])[] = [
  ['Redis', () => undefined, () => undefined],
  ['a Redis that forgot everything', () => undefined, () => world.redis.producer.flushall()],
  ['a Redis that hangs', () => world.stopRedis(), () => undefined],
]

// Guarantee: what was taken away counts at the next request of every process, whatever they remember.
describe.each(sampleOf(REDIS, 2))('over two processes and %s', (_name, failFirst, failThen) => {
  it('a revoked key stops', async () => {
    const { keyId, key } = await warmKey()
    await failFirst()
    await world.here.revoke(keyId)
    await failThen()
    for (let request = 0; request < 2; request += 1) {
      expect(await outcomes(key)).toEqual(twice([401, 'UNAUTHENTICATED']))
    }
    await world.continueRedis()
    expect(await outcomes(key)).toEqual(twice([401, 'UNAUTHENTICATED']))
  })

  it('a workspace stops, is restricted and goes on', async () => {
    const { workspaceId, key } = await warmKey()
    const create = () => outcomes(key, 'POST', '/products', { name: 'Mug', price: '1.00', currency: 'USD' })
    await failFirst()
    await world.here.updateWorkspace(workspaceId, { status: 'suspended' })
    await failThen()
    expect(await outcomes(key)).toEqual(twice([403, 'WORKSPACE_SUSPENDED']))
    await world.here.updateWorkspace(workspaceId, { status: 'restricted' })
    await failThen()
    expect([await outcomes(key), await create()]).toEqual([twice([200, '']), twice([403, 'WORKSPACE_RESTRICTED'])])
    await world.here.updateWorkspace(workspaceId, { status: 'active' })
    await failThen()
    expect(await create()).toEqual(twice([201, '']))
  })

  it('one key creates one invoice', async () => {
    const { workspaceId, key } = await warmKey()
    await failFirst()
    await failThen()
    const headers = { 'idempotency-key': 'once' }
    const body = { amount: '25.00', currency: 'USD' }
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, index) => both[index % 2]?.call('POST', '/invoices', { key, headers, body })),
    )
    const given = answers.filter((answer) => answer !== undefined && answer.status !== 409)
    expect(new Set(given.map((answer) => `${answer?.status} ${answer?.text}`)).size).toBe(1)
    expect(given[0]?.status).toBe(201)
    expect(await stores.db.collection(INVOICES).countDocuments({ workspaceId })).toBe(1)
  })
})

/**
 * More requests than all buckets together can hold: the one in Redis and one in each process, 60 each. A starved machine
 * may use all three (see `checkedAlone`), and the last of a flood is refused even then.
 */
const FLOOD = 240

/** Tokens that may have come back since a moment of `performance.now()`: two a second. */
const refilledSince = (startedAt: number): number => Math.ceil((performance.now() - startedAt) / 500)

interface Flood {
  readonly passed: number
  readonly refused: readonly ApiAnswer[]
  /** Tokens that may have come back while the flood lasted: two a second. */
  readonly refilled: number
  /** Requests that a process checked without Redis. */
  readonly alone: number
}

/** Sends requests at once, in turn to the given processes. Everything but 429 counts as passed. */
async function flood(targets: readonly Target[], count: number, key: string | null): Promise<Flood> {
  const aloneBefore = await world.checkedAlone()
  const startedAt = performance.now()
  const answers = await Promise.all(
    Array.from({ length: count }, (_, index) => targets[index % targets.length]?.call('GET', PATH, { key })),
  )
  const refilled = refilledSince(startedAt)
  const seen = answers.filter((answer) => answer !== undefined)
  for (const answer of seen) expect([key === null ? 401 : 200, 429]).toContain(answer.status)
  const refused = seen.filter(({ status }) => status === 429)
  const alone = (await world.checkedAlone()) - aloneBefore
  return { passed: seen.length - refused.length, refused, refilled, alone }
}

/** Checks what the specification says of every refusal. */
function expectRefusals({ refused }: Flood): void {
  expect(refused.length).toBeGreaterThan(0)
  for (const { json, headers } of refused) {
    expect(json.error.code).toBe('RATE_LIMITED')
    expect(headers.get('retry-after')).toMatch(/^[1-9][0-9]*$/)
    expect(headers.get('x-ratelimit-limit')).toBe('120')
    expect(headers.get('x-ratelimit-remaining')).toBe('0')
    expect(headers.get('x-ratelimit-reset')).toMatch(/^[0-9]{10}$/)
  }
}

const newKey = async () => (await world.here.newKey('test')).apiKey

// Guarantee: the limit belongs to the key, not to the process that is asked.
describe('the rate limit over two processes', () => {
  it('lets a burst of 60 through, whichever process is asked', async () => {
    const result = await flood(both, FLOOD, await newKey())
    expect(result.passed).toBeGreaterThanOrEqual(60)
    expect(result.passed).toBeLessThanOrEqual(60 + result.refilled + result.alone)
    expectRefusals(result)
  })

  it('gives two tokens a second back, to both together', async () => {
    const { record, apiKey } = await world.here.newKey('test')
    // The bucket of a key that sent its burst ten seconds ago: full again in twenty.
    const startedAt = performance.now()
    const [seconds = 0] = await world.redis.producer.time()
    const full = (Number(seconds) + 20) * 1_000
    await world.redis.producer.set(`${world.redis.prefix}:rate:key:${record.id}`, full)
    const later = await flood(both, FLOOD, apiKey)
    expect(later.passed).toBeGreaterThanOrEqual(20)
    // Counted from before the bucket was written: what comes back until the flood begins counts, too.
    expect(later.passed).toBeLessThanOrEqual(20 + 2 + refilledSince(startedAt) + later.alone)
    expectRefusals(later)
  })

  it('counts down over both, and says when the bucket is full again', async () => {
    const key = await newKey()
    const aloneBefore = await world.checkedAlone()
    const startedAt = Date.now()
    for (let sent = 1; sent <= 10; sent += 1) {
      const answer = await both[sent % 2]?.call('GET', PATH, { key })
      const alone = (await world.checkedAlone()) - aloneBefore
      const refilled = Math.ceil((Date.now() - startedAt) / 500)
      const remaining = Number(answer?.headers.get('x-ratelimit-remaining'))
      expect(remaining).toBeGreaterThanOrEqual(60 - sent)
      expect(remaining).toBeLessThanOrEqual(Math.min(59, 60 - sent + refilled + alone))
      const reset = Number(answer?.headers.get('x-ratelimit-reset')) * 1_000
      expect(reset).toBeGreaterThanOrEqual(startedAt)
      expect(reset).toBeLessThanOrEqual(Date.now() + sent * 500 + 1_000)
    }
  })

  it('counts callers without a key by their address, and never at the cost of a key', async () => {
    const strangers = await flood(both, FLOOD, null)
    expect(strangers.passed).toBeLessThanOrEqual(60 + strangers.refilled + strangers.alone)
    expectRefusals(strangers)
    expect((await world.there.call('GET', PATH, { key: await newKey() })).status).toBe(200)
  })

  it('counts every kind of answer', async () => {
    const key = await newKey()
    const kinds: readonly (readonly [string, string, number])[] = [
      ['GET', PATH, 200],
      ['GET', '/products/no-id', 400],
      ['GET', '/nothing', 404],
      ['PUT', '/products', 405],
    ]
    const aloneBefore = await world.checkedAlone()
    const startedAt = performance.now()
    for (const [method, path, status] of kinds) {
      for (const to of both) {
        const answers = await Promise.all(Array.from({ length: 7 }, () => to.call(method, path, { key })))
        expect([method, path, new Set(answers.map((answer) => answer.status))]).toEqual([
          method,
          path,
          new Set([status]),
        ])
      }
    }
    const rest = await flood(both, FLOOD, key)
    const refilled = refilledSince(startedAt)
    const alone = (await world.checkedAlone()) - aloneBefore
    expect(rest.passed).toBeLessThanOrEqual(60 - 2 * 7 * kinds.length + refilled + alone)
    expectRefusals(rest)
  })
})

// Guarantee: without Redis each process holds the limit by itself; nobody is locked out, and nobody gets more.
describe('the rate limit of a stopped Redis', () => {
  it('is a bucket in each process, which goes on from what Redis said last', async () => {
    const key = await newKey()
    const startedAt = performance.now()
    const before = await flood([world.here], 40, key)
    expect(before.passed).toBe(40)
    world.stopRedis()
    const [here, there] = await Promise.all([flood([world.here], 120, key), flood([world.there], 120, key)])
    expect(here.passed).toBeGreaterThanOrEqual(20)
    expect(here.passed).toBeLessThanOrEqual(20 + refilledSince(startedAt) + 1)
    expect(there.passed).toBeGreaterThanOrEqual(60)
    expect(there.passed).toBeLessThanOrEqual(60 + there.refilled)
    for (const result of [here, there]) expectRefusals(result)
  })

  it('holds for callers without a key as well', async () => {
    world.stopRedis()
    const strangers = await flood([world.there], 140, null)
    expect(strangers.passed).toBeLessThanOrEqual(60 + strangers.refilled)
    expectRefusals(strangers)
  })
})
