import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { ERROR_TABLE, type ErrorCode } from '#shared/contracts/errors.ts'
import { errorEnvelopeSchema } from '#shared/contracts/http/envelope.ts'
import { PRODUCTS } from '#shared/db/payment-links/product-model.ts'
import { KEY_MATERIAL } from '#shared/db/wallets/wallet-models.ts'
import type { RedisConnections } from '#shared/queues/connection.ts'
import type { ApiAnswer, ApiRequest, TestApi } from '#test/support/api.ts'
import { awaitingRedis, patientRedis } from '#test/support/patient-redis.ts'
import { useStores } from '#test/support/stores.ts'
import { makeResource, openContractApi, send, UNKNOWN_ID } from './contract-stage.ts'
import { brokenDeps, createGate, emptyBucket, heldBy } from './failing-parts.ts'
import { nameOf, OPERATIONS, operation } from './operations.ts'

const stores = useStores()
let api: TestApi
let redis: RedisConnections

beforeAll(async () => {
  redis = patientRedis(stores.redis)
  api = await openContractApi(stores, { redis })
})
// Prices are good for two minutes, which a slow machine may need for the file.
beforeEach(() => api.engine.publishRates())
afterAll(() => api.close())

type ReplaceDeps = NonNullable<Parameters<typeof openContractApi>[1]>['deps']
type Extra = ApiRequest & { readonly id?: string; readonly query?: string }
type NamedAnswer = readonly [string, ApiAnswer]
type Answers = Promise<readonly NamedAnswer[]>

/** Sends one request to each of the named operations. */
async function sendEach(names: readonly string[], request: Extra = {}, to: TestApi = api): Answers {
  const answers: [string, ApiAnswer][] = []
  for (const name of names) answers.push([name, await send(to, operation(name), { key: api.testKey, ...request })])
  return answers
}

async function newShop() {
  const { id } = await api.newWorkspace()
  return { id, key: (await api.newKey('test', undefined, id)).apiKey }
}

async function withApi<T>(deps: ReplaceDeps, run: (api: TestApi) => Promise<T>): Promise<T> {
  const other = await openContractApi(stores, { redis, ...(deps !== undefined && { deps }) })
  try {
    return await run(other)
  } finally {
    await other.close()
  }
}

const every = OPERATIONS.map(nameOf)
const posts = every.filter((name) => name.startsWith('POST '))
const creates = OPERATIONS.filter(({ restricted }) => restricted).map(nameOf)
const CREATE = 'POST /invoices'
const CANCEL = 'POST /invoices/{id}/cancel'
const SIMULATE = 'POST /test/invoices/{id}/simulate'
const LINK = 'POST /payment-links'
const priced = (amount: string, asset: string) => ({ body: { amount, currency: 'USD', asset } })

/** Each code of the specification, §7: its status, and how every operation that lists it is brought to answer with it. */
const CASES: Readonly<Record<ErrorCode, readonly [number, () => Answers]>> = {
  VALIDATION_ERROR: [400, () => sendEach(every, { query: '?surprise=1' })],
  UNSUPPORTED_ASSET: [400, () => sendEach([CREATE], priced('25', 'dot_polkadot'))],
  NO_WALLET_FOR_ASSET: [400, withoutWallets],
  AMOUNT_BELOW_MINIMUM: [400, () => sendEach([CREATE], priced('0.01', 'btc_bitcoin'))],
  UNAUTHENTICATED: [401, () => sendEach(every, { key: null })],
  FORBIDDEN_SCOPE: [403, wrongScopes],
  WORKSPACE_SUSPENDED: [403, () => ofWorkspace(every, { status: 'suspended' })],
  WORKSPACE_RESTRICTED: [403, () => ofWorkspace(creates, { status: 'restricted' })],
  PLAN_LIMIT_REACHED: [
    403,
    () =>
      ofWorkspace([CREATE, LINK, 'POST /webhook-endpoints'], {
        limits: { invoicesPerMonth: 0, paymentLinks: 0, webhookEndpoints: 0 },
      }),
  ],
  TEST_MODE_ONLY: [403, () => sendEach([SIMULATE], { key: api.liveKey, id: 'no-id', body: '{' })],
  NOT_FOUND: [404, unknownResources],
  INVALID_STATE: [409, wrongStates],
  IDEMPOTENCY_MISMATCH: [409, otherBodies],
  IDEMPOTENCY_IN_PROGRESS: [409, twins],
  RATE_LIMITED: [429, () => withApi(emptyBucket, (strict) => sendEach(every, {}, strict))],
  INTERNAL_ERROR: [500, () => withApi(brokenDeps, (broken) => sendEach(every, {}, broken))],
  RATES_UNAVAILABLE: [503, withoutRates],
}

// Guarantee: every public code has one status, wherever it comes from, and tells nothing of the inside.
describe.each(Object.entries(CASES))('%s', (code, [status, reach]) => {
  it(
    `is ${status} on every operation that lists it`,
    awaitingRedis(async () => {
      const answers = await reach()
      expect(answers.length).toBeGreaterThan(0)
      for (const [name, answer] of answers) {
        expect([name, answer.status, answer.json.error?.code]).toEqual([name, status, code])
        errorEnvelopeSchema.parse(answer.json)
        expect(answer.headers.get('content-type')).toBe('application/json; charset=utf-8')
        expect(answer.headers.get('x-ratelimit-limit')).toBe('120')
        const waits = code === 'RATE_LIMITED' || code === 'RATES_UNAVAILABLE'
        expect(answer.headers.get('retry-after') ?? '').toMatch(waits ? /^[1-9][0-9]*$/ : /^$/)
        expect(answer.headers.has('idempotent-replayed')).toBe(false)
        expect(answer.text).not.toMatch(/mongodb:|password| at .*:\d+/)
      }
    }),
  )

  it('has that status in the table of errors', () => {
    expect(ERROR_TABLE[code as ErrorCode].status).toBe(status)
  })
})

async function ofWorkspace(names: readonly string[], change: Parameters<TestApi['updateWorkspace']>[1]): Answers {
  const { id, key } = await newShop()
  await api.updateWorkspace(id, change)
  return sendEach(names, { key })
}

async function wrongScopes(): Answers {
  const answers: NamedAnswer[] = []
  for (const here of OPERATIONS) {
    const other = here.scope === 'payments:read' ? 'rates:read' : 'payments:read'
    answers.push(...(await sendEach([nameOf(here)], { key: (await api.newKey('test', [other])).apiKey })))
  }
  return answers
}

async function unknownResources(): Answers {
  const withId = every.filter((name) => name.includes('{id}'))
  return [...(await sendEach(withId)), ...(await sendEach([LINK], { body: { product_id: UNKNOWN_ID } }))]
}

async function wrongStates(): Answers {
  const answers: NamedAnswer[] = []
  for (const scenario of ['paid', 'overpaid', 'partial', 'expired']) {
    const id = await makeResource(api, 'invoices', api.testKey)
    await sendEach([SIMULATE], { id, body: { scenario } })
    if (scenario !== 'expired') answers.push(...(await sendEach([CANCEL], { id })))
    if (scenario !== 'partial') answers.push(...(await sendEach([SIMULATE], { id })))
  }
  const product = await makeResource(api, 'products', api.testKey)
  await stores.db.collection(PRODUCTS).updateOne({ _id: product }, { $set: { active: false } })
  return [...answers, ...(await sendEach([LINK], { body: { product_id: product } }))]
}

async function otherBodies(): Answers {
  const answers: NamedAnswer[] = []
  for (const name of posts) {
    const { resource, body } = operation(name)
    const id = resource === undefined ? UNKNOWN_ID : await makeResource(api, resource, api.testKey)
    const headers = { 'idempotency-key': `mismatch ${name}` }
    await sendEach([name], { id, headers })
    for (const other of ['{', '{ }', `${JSON.stringify(body ?? {})} `]) {
      answers.push(...(await sendEach([name], { id, headers, body: other })))
    }
  }
  return answers
}

async function twins(): Answers {
  const answers: NamedAnswer[] = []
  for (const name of posts) {
    const { resource } = operation(name)
    const id = resource === undefined ? UNKNOWN_ID : await makeResource(api, resource, api.testKey)
    const headers = { 'idempotency-key': `twin ${name}` }
    const gate = createGate()
    await withApi(
      (deps) => heldBy(deps, gate),
      async (slow) => {
        const first = sendEach([name], { id, headers }, slow)
        await gate.arrived
        answers.push(...(await sendEach([name], { id, headers })))
        gate.open()
        await first
      },
    )
  }
  return answers
}

async function withoutWallets(): Answers {
  const live = await sendEach([CREATE], { key: api.liveKey, ...priced('25', 'eth_ethereum') })
  const materials = stores.db.collection(KEY_MATERIAL)
  const kept = await materials.find().toArray()
  const id = await makeResource(api, 'invoices', api.testKey)
  await materials.deleteMany({})
  try {
    // A separate process, because the first lock of one remembers the sandbox; opening it may bring the material back.
    const test = await withApi(undefined, async (bare) => {
      await materials.deleteMany({})
      return sendEach([SIMULATE], { id }, bare)
    })
    return [...live, ...test]
  } finally {
    await materials.deleteMany({})
    await materials.insertMany(kept)
  }
}

async function withoutRates(): Answers {
  const id = await makeResource(api, 'invoices', api.testKey)
  return withApi(undefined, async (late) => {
    late.engine.advance(121_000)
    const unlocked = await sendEach([CREATE], {}, late)
    expect(unlocked[0]?.[1].status).toBe(201)
    return [
      ...(await sendEach([CREATE], priced('25', 'btc_bitcoin'), late)),
      ...(await sendEach(['GET /rates', 'POST /estimate', SIMULATE], { id }, late)),
    ]
  })
}
