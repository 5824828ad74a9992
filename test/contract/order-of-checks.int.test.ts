import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { ErrorCode } from '#shared/contracts/errors.ts'
import type { ApiRequest, TestApi } from '#test/support/api.ts'
import { sampleOf } from '#test/support/depth.ts'
import { useStores } from '#test/support/stores.ts'
import { makeResource, openContractApi, outcome, send, UNKNOWN_ID } from './contract-stage.ts'
import { emptyBucket } from './failing-parts.ts'
import { NAMED_OPERATIONS, type Operation, operation } from './operations.ts'

const stores = useStores()
let api: TestApi
let dry: TestApi

beforeAll(async () => {
  api = await openContractApi(stores)
  dry = await openContractApi(stores, { deps: emptyBucket })
})
afterAll(() => Promise.all([api.close(), dry.close()]))

type Step = readonly [number, ErrorCode | '']
type Request = ApiRequest & { readonly id?: string; readonly query?: string }

/** Everything about this request is wrong; each step mends what the step before was refused for. */
async function ladder(here: Operation): Promise<readonly (readonly [Step, Step])[]> {
  const { id: workspaceId } = await api.newWorkspace()
  const keys = {
    weakLive: (await api.newKey('live', ['payments:read'], workspaceId)).apiKey,
    live: (await api.newKey('live', undefined, workspaceId)).apiKey,
    test: (await api.newKey('test', undefined, workspaceId)).apiKey,
  }
  const isPost = here.method === 'POST'
  const body = isPost ? { body: '{' } : {}
  const bad = { id: 'no-id', query: '?surprise=1', ...body }
  const tooLong = { 'idempotency-key': 'x'.repeat(256) }
  const used = { 'idempotency-key': 'used' }
  const steps: (readonly [Step, Step])[] = []
  const step = async (expected: Step, request: Request, to: TestApi = api) => {
    steps.push([outcome(await send(to, here, request)), expected])
  }

  const own = here.resource === undefined ? UNKNOWN_ID : await makeResource(api, here.resource, keys.test)
  if (isPost) await send(api, here, { key: keys.test, id: own, headers: used })
  await api.updateWorkspace(workspaceId, {
    status: 'suspended',
    limits: { invoicesPerMonth: 0, paymentLinks: 0, webhookEndpoints: 0 },
  })
  await step([429, 'RATE_LIMITED'], { ...bad, key: keys.weakLive, headers: tooLong }, dry)
  await step([401, 'UNAUTHENTICATED'], { ...bad, key: `${keys.weakLive}x`, headers: tooLong })
  await step([403, 'WORKSPACE_SUSPENDED'], { ...bad, key: keys.weakLive, headers: tooLong })
  await api.updateWorkspace(workspaceId, { status: 'restricted' })
  const weak =
    here.scope === 'payments:read' ? (await api.newKey('live', ['rates:read'], workspaceId)).apiKey : keys.weakLive
  await step([403, 'FORBIDDEN_SCOPE'], { ...bad, key: weak, headers: tooLong })
  if (here.testOnly) await step([403, 'TEST_MODE_ONLY'], { ...bad, key: keys.live, headers: tooLong })
  const key = keys.test
  if (isPost) {
    await step([400, 'VALIDATION_ERROR'], { ...bad, key, headers: tooLong })
    await step([409, 'IDEMPOTENCY_MISMATCH'], { ...bad, id: own, key, headers: used })
  }
  if (here.restricted) await step([403, 'WORKSPACE_RESTRICTED'], { ...bad, key })
  await api.updateWorkspace(workspaceId, { status: 'active' })
  await step([400, 'VALIDATION_ERROR'], { ...bad, key })
  if (here.resource !== undefined) await step([400, 'VALIDATION_ERROR'], { key, id: 'no-id' })
  if (isPost) await step([400, 'VALIDATION_ERROR'], { key, id: own, body: { surprise: 1 } })
  if (LIMITED.includes(`${here.method} ${here.path}`)) await step([403, 'PLAN_LIMIT_REACHED'], { key })
  else await step(here.resource === undefined ? [here.success, ''] : [404, 'NOT_FOUND'], { key })
  return steps
}

const LIMITED = ['POST /invoices', 'POST /payment-links', 'POST /webhook-endpoints']

// Guarantee: nobody learns from the kind of a refusal what an earlier check would have kept from them.
describe('the checks run in their order', () => {
  it.each(sampleOf(NAMED_OPERATIONS, 2))('%s', async (_name, here) => {
    const steps = await ladder(here)
    expect(steps.map(([got]) => got)).toEqual(steps.map(([, wanted]) => wanted))
  })
})

describe('the plan', () => {
  /** What a request would be refused for if the plan still had room. */
  const LATER: readonly (readonly [string, object])[] = [
    ['POST /invoices', { amount: '0.01', currency: 'USD', asset: 'btc_bitcoin' }],
    ['POST /payment-links', { product_id: UNKNOWN_ID }],
  ]
  it.each(LATER)('is checked before the work of %s', async (name, body) => {
    const { id } = await api.newWorkspace()
    await api.updateWorkspace(id, { limits: { invoicesPerMonth: 0, paymentLinks: 0 } })
    const { apiKey } = await api.newKey('test', undefined, id)
    expect(outcome(await send(api, operation(name), { key: apiKey, body }))).toEqual([403, 'PLAN_LIMIT_REACHED'])
  })

  /** The limit that an operation runs into, and what makes room again. */
  const ROOM: readonly (readonly [string, object, (id: string, key: string) => Promise<unknown>])[] = [
    [
      'POST /payment-links',
      { paymentLinks: 2 },
      (id, key) => send(api, operation('POST /payment-links/{id}/deactivate'), { id, key }),
    ],
    [
      'POST /webhook-endpoints',
      { webhookEndpoints: 2 },
      (id, key) => send(api, operation('DELETE /webhook-endpoints/{id}'), { id, key }),
    ],
    [
      'POST /invoices',
      { invoicesPerMonth: 2 },
      // 31 days on it is another month.
      () => Promise.resolve(api.engine.advance(31 * 86_400_000)),
    ],
  ]
  it.each(ROOM)('of %s holds exactly, and has room again', async (name, limits, makeRoom) => {
    const { id: workspaceId } = await api.newWorkspace()
    await api.updateWorkspace(workspaceId, { limits })
    const key = (await api.newKey('test', undefined, workspaceId)).apiKey
    const create = () => send(api, operation(name), { key })
    const first = await create()
    expect([first.status, (await create()).status]).toEqual([201, 201])
    expect(outcome(await create())).toEqual([403, 'PLAN_LIMIT_REACHED'])
    await makeRoom(first.json.data.id, key)
    expect((await create()).status).toBe(201)
    await api.updateWorkspace(workspaceId, {
      limits: { invoicesPerMonth: null, paymentLinks: null, webhookEndpoints: null },
    })
    expect((await create()).status).toBe(201)
  })
})
