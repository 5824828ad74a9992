import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { MODES, type Mode } from '#shared/domain/enumerations.ts'
import type { TestApi } from '#test/support/api.ts'
import { sampleOf } from '#test/support/depth.ts'
import { useStores } from '#test/support/stores.ts'
import { comparable, makeResource, openContractApi, outcome, send, sendToOwn, UNKNOWN_ID } from './contract-stage.ts'
import { NAMED_OPERATIONS, nameOf, OPERATIONS, operation, type ResourceKind } from './operations.ts'

const stores = useStores()
let api: TestApi

beforeAll(async () => {
  api = await openContractApi(stores)
})
afterAll(() => api.close())

async function newShop(): Promise<{ readonly id: string; readonly keys: Readonly<Record<Mode, string>> }> {
  const { id } = await api.newWorkspace()
  const [live, test] = await Promise.all(MODES.map(async (mode) => (await api.newKey(mode, undefined, id)).apiKey))
  return { id, keys: { live: live ?? '', test: test ?? '' } }
}

// Guarantee: a state of the workspace stops exactly the operations that the specification says, and no other.
describe('the state of the workspace', () => {
  it.each(sampleOf(NAMED_OPERATIONS, 6))('active: %s succeeds', async (_name, here) => {
    const { keys } = await newShop()
    expect(outcome(await sendToOwn(api, here, keys.test))).toEqual([here.success, ''])
  })

  it.each(sampleOf(NAMED_OPERATIONS, 5))('restricted: %s', async (_name, here) => {
    const { id, keys } = await newShop()
    const target = here.resource === undefined ? UNKNOWN_ID : await makeResource(api, here.resource, keys.test)
    await api.updateWorkspace(id, { status: 'restricted' })
    const expected = here.restricted ? [403, 'WORKSPACE_RESTRICTED'] : [here.success, '']
    expect(outcome(await send(api, here, { key: keys.test, id: target }))).toEqual(expected)
  })

  it.each(sampleOf(NAMED_OPERATIONS, 5))('suspended: %s', async (_name, here) => {
    const { id, keys } = await newShop()
    const target = here.resource === undefined ? UNKNOWN_ID : await makeResource(api, here.resource, keys.test)
    await api.updateWorkspace(id, { status: 'suspended' })
    for (const mode of MODES) {
      const answer = await send(api, here, { key: keys[mode], id: target })
      expect(outcome(answer)).toEqual([403, 'WORKSPACE_SUSPENDED'])
    }
    await api.updateWorkspace(id, { status: 'active' })
    expect(outcome(await send(api, here, { key: keys.test, id: target }))).toEqual([here.success, ''])
  })

  it('is checked before scope, mode, body and id, and restriction before body', async () => {
    const { id, keys } = await newShop()
    const { apiKey } = await api.newKey('live', ['payments:read'], id)
    const simulate = operation('POST /test/invoices/{id}/simulate')
    const create = operation('POST /invoices')
    await api.updateWorkspace(id, { status: 'suspended' })
    const wrong = { key: apiKey, id: 'no-id', body: '{' }
    expect(outcome(await send(api, simulate, wrong))).toEqual([403, 'WORKSPACE_SUSPENDED'])
    await api.updateWorkspace(id, { status: 'restricted' })
    expect(outcome(await send(api, simulate, wrong))).toEqual([403, 'FORBIDDEN_SCOPE'])
    expect(outcome(await send(api, simulate, { ...wrong, key: keys.live }))).toEqual([403, 'TEST_MODE_ONLY'])
    expect(outcome(await send(api, create, { ...wrong, key: keys.test }))).toEqual([403, 'WORKSPACE_RESTRICTED'])
  })

  it('replays what was created before the restriction, and creates nothing new', async () => {
    const { id, keys } = await newShop()
    for (const here of OPERATIONS.filter(({ restricted }) => restricted)) {
      const headers = { 'idempotency-key': nameOf(here) }
      const first = await send(api, here, { key: keys.test, headers })
      await api.updateWorkspace(id, { status: 'restricted' })
      const again = await send(api, here, { key: keys.test, headers })
      expect([again.status, again.text, again.headers.get('idempotent-replayed')]).toEqual([201, first.text, 'true'])
      const fresh = await send(api, here, { key: keys.test, headers: { 'idempotency-key': `new ${nameOf(here)}` } })
      expect(outcome(fresh)).toEqual([403, 'WORKSPACE_RESTRICTED'])
      await api.updateWorkspace(id, { status: 'active' })
    }
  })
})

// Guarantee: a test key never sees or touches live data, nor a live key test data.
describe('the mode of the key', () => {
  it.each(sampleOf(NAMED_OPERATIONS, 5))('live: %s', async (_name, here) => {
    const { keys } = await newShop()
    const expected = here.testOnly ? [403, 'TEST_MODE_ONLY'] : [here.success, '']
    const answer = await sendToOwn(api, here, keys.live)
    expect(outcome(answer)).toEqual(expected)
    const shown = [answer.json.data].flat().filter((record) => record !== null && 'livemode' in record)
    for (const { livemode } of shown) expect(livemode).toBe(true)
  })

  const withId = NAMED_OPERATIONS.filter(([, { resource }]) => resource !== undefined)
  it.each(sampleOf(withId, 5))('%s does not find what the other mode has', async (_name, here) => {
    const { keys } = await newShop()
    for (const [owner, stranger] of [
      ['live', 'test'],
      ['test', 'live'],
    ] as const) {
      const id = await makeResource(api, here.resource as ResourceKind, keys[owner])
      const answer = await send(api, here, { key: keys[stranger], id })
      const hidden = here.testOnly && stranger === 'live' ? [403, 'TEST_MODE_ONLY'] : [404, 'NOT_FOUND']
      expect(outcome(answer)).toEqual(hidden)
      expect(comparable(answer)).toEqual(comparable(await send(api, here, { key: keys[stranger] })))
    }
  })

  const LISTS = ['invoices', 'payment-links', 'products', 'webhook-endpoints'] as const
  it.each(LISTS)('GET /%s lists the records of its mode only', async (kind) => {
    const { keys } = await newShop()
    const live = await makeResource(api, kind, keys.live)
    const test = await makeResource(api, kind, keys.test)
    const idsOf = async (key: string): Promise<string[]> =>
      (await api.call('GET', `/${kind}`, { key })).json.data.map(({ id }: { id: string }) => id)
    expect([await idsOf(keys.live), await idsOf(keys.test)]).toEqual([[live], [test]])
  })

  it('GET /payments lists the payments of its mode only', async () => {
    const { keys } = await newShop()
    const id = await makeResource(api, 'invoices', keys.test)
    await send(api, operation('POST /test/invoices/{id}/simulate'), { key: keys.test, id })
    for (const [key, count] of [
      [keys.test, 1],
      [keys.live, 0],
    ] as const) {
      for (const query of ['', `?invoice_id=${id}`]) {
        expect((await api.call('GET', `/payments${query}`, { key })).json.data).toHaveLength(count)
      }
    }
  })

  it('keeps quotas and skus apart', async () => {
    const { id, keys } = await newShop()
    await api.updateWorkspace(id, { limits: { invoicesPerMonth: 1, paymentLinks: 1 } })
    for (const mode of MODES) {
      for (const name of ['POST /invoices', 'POST /payment-links']) {
        expect((await send(api, operation(name), { key: keys[mode] })).status).toBe(201)
        expect(outcome(await send(api, operation(name), { key: keys[mode] }))).toEqual([403, 'PLAN_LIMIT_REACHED'])
      }
      const product = { ...operation('POST /products').body, sku: 'SAME' }
      expect((await send(api, operation('POST /products'), { key: keys[mode], body: product })).status).toBe(201)
    }
  })
})
