import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { TestApi } from '#test/support/api.ts'
import { sampleOf } from '#test/support/depth.ts'
import { useStores } from '#test/support/stores.ts'
import { comparable, makeResource, openContractApi, outcome, send, UNKNOWN_ID } from './contract-stage.ts'
import { NAMED_OPERATIONS, operation, type ResourceKind } from './operations.ts'

const stores = useStores()
let api: TestApi

beforeAll(async () => {
  api = await openContractApi(stores)
})
afterAll(() => api.close())

/** Resources that the test key of the stage must not see: another workspace's in both modes, and its own live one. */
async function hidden(kind: ResourceKind): Promise<readonly string[]> {
  const { id } = await api.newWorkspace()
  const test = (await api.newKey('test', undefined, id)).apiKey
  const live = (await api.newKey('live', undefined, id)).apiKey
  return Promise.all([test, live, api.liveKey].map((key) => makeResource(api, kind, key)))
}

// Guarantee: what belongs to another workspace or mode cannot be told from what does not exist.
describe('a foreign resource answers like an unknown one', () => {
  const withId = NAMED_OPERATIONS.filter(([, { resource }]) => resource !== undefined)

  it.each(sampleOf(withId, 3))('%s', async (_name, here) => {
    const kind = here.resource as ResourceKind
    const unknown = await send(api, here)
    expect(outcome(unknown)).toEqual([404, 'NOT_FOUND'])
    for (const id of await hidden(kind)) {
      expect(comparable(await send(api, here, { id }))).toEqual(comparable(unknown))
      expect(comparable(await send(api, here, { id: id.toUpperCase() }))).toEqual(comparable(unknown))
    }
    const own = await makeResource(api, kind, api.testKey)
    expect((await send(api, here, { id: own })).status).toBe(here.success)
  })

  it.each(withId.filter(([, { method }]) => method === 'POST'))('%s under an idempotency key', async (name, here) => {
    const keyed = (id: string) => send(api, here, { id, headers: { 'idempotency-key': name } })
    const unknown = [await keyed(UNKNOWN_ID), await keyed(UNKNOWN_ID)].map(comparable)
    for (const id of await hidden(here.resource as ResourceKind)) {
      expect([await keyed(id), await keyed(id)].map(comparable)).toEqual(unknown)
    }
  })

  it.each(withId)('%s of a live key', async (_name, here) => {
    const unknown = comparable(await send(api, here, { key: api.liveKey }))
    const own = await makeResource(api, here.resource as ResourceKind, api.testKey)
    expect(comparable(await send(api, here, { key: api.liveKey, id: own }))).toEqual(unknown)
  })

  it('POST /payment-links on a product', async () => {
    const on = (id: string) => send(api, operation('POST /payment-links'), { body: { product_id: id } })
    const unknown = await on(UNKNOWN_ID)
    expect(outcome(unknown)).toEqual([404, 'NOT_FOUND'])
    for (const id of await hidden('products')) expect(comparable(await on(id))).toEqual(comparable(unknown))
  })

  it('GET /payments of an invoice', async () => {
    const listOf = (id: string) => send(api, operation('GET /payments'), { query: `?invoice_id=${id}` })
    const unknown = await listOf(UNKNOWN_ID)
    expect([unknown.status, unknown.json.data]).toEqual([200, []])
    for (const id of await hidden('invoices')) expect(comparable(await listOf(id))).toEqual(comparable(unknown))
  })

  it('leaves what it names untouched', async () => {
    const { id } = await api.newWorkspace()
    const { apiKey } = await api.newKey('test', undefined, id)
    const read = async () => {
      const lists = ['invoices', 'payment-links', 'products', 'webhook-endpoints', 'payments']
      return Promise.all(lists.map(async (list) => (await api.call('GET', `/${list}`, { key: apiKey })).json.data))
    }
    const targets = new Map<string, string>()
    for (const [name, here] of withId) targets.set(name, await makeResource(api, here.resource as ResourceKind, apiKey))
    const before = await read()
    for (const [name, here] of withId) {
      for (const key of [api.testKey, api.liveKey]) await send(api, here, { key, id: targets.get(name) ?? '' })
    }
    expect(await read()).toEqual(before)
  })
})
