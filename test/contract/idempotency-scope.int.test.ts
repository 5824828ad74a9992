import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { ApiAnswer, TestApi } from '#test/support/api.ts'
import { deepTest, sampleOf } from '#test/support/depth.ts'
import { useStores } from '#test/support/stores.ts'
import { makeResource, openContractApi, outcome, send, UNKNOWN_ID } from './contract-stage.ts'
import { footprint, KEYED_OPERATIONS, type KeyedRequest, prepareKeyed } from './keyed-operations.ts'
import { NAMED_OPERATIONS, OPERATIONS, operation } from './operations.ts'

const stores = useStores()
const NAMED = KEYED_OPERATIONS.map((keyed) => [keyed.name, keyed] as const)
const WINDOW_MS = 24 * 3_600_000
const KEY = 'k'.repeat(255)
let api: TestApi

beforeAll(async () => {
  api = await openContractApi(stores)
})
afterAll(() => api.close())
beforeEach(async () => {
  await api.engine.watchEverything()
  await api.engine.publishRates()
})

const isReplay = ({ headers }: ApiAnswer): boolean => headers.get('idempotent-replayed') === 'true'

async function later(ms: number): Promise<void> {
  api.engine.advance(ms)
  await api.engine.publishRates()
}

// Guarantee: for 24 hours a key repeats the first answer, and not for longer.
describe('the window of a key', () => {
  /** What a request that is executed again finds; everything else succeeds a second time. */
  const SECOND: Readonly<Record<string, readonly [number, string]>> = {
    'a cancellation': [409, 'INVALID_STATE'],
    'a product with a sku': [400, 'VALIDATION_ERROR'],
    'a simulation of paid': [409, 'INVALID_STATE'],
    'a simulation of overpaid': [409, 'INVALID_STATE'],
    'a simulation of expired': [409, 'INVALID_STATE'],
  }
  const requests = new Map<string, { readonly request: KeyedRequest; readonly first: ApiAnswer }>()
  const get = (name: string) => {
    const found = requests.get(name)
    if (found === undefined) throw new Error(`nothing was sent for ${name}`)
    return found
  }

  beforeAll(async () => {
    await api.engine.watchEverything()
    for (const [name, keyed] of NAMED) {
      const request = await prepareKeyed(api, keyed)
      requests.set(name, { request, first: await request.sendTo(api, KEY) })
    }
  })

  describe('a minute before its end', () => {
    beforeAll(() => later(WINDOW_MS - 60_000))

    it.each(sampleOf(NAMED, 3))('repeats %s', async (name) => {
      const { request, first } = get(name)
      const before = await footprint(stores, request.workspaceId)
      const again = await request.sendTo(api, KEY)
      expect([again.status, again.text, isReplay(again)]).toEqual([first.status, first.text, true])
      expect(again.headers.get('content-type')).toBe(first.headers.get('content-type'))
      expect(await footprint(stores, request.workspaceId)).toEqual(before)
    })
  })

  describe('behind its end', () => {
    beforeAll(() => later(60_000))

    it.each(sampleOf(NAMED, 3))('executes %s again, and repeats that', async (name) => {
      const { request, first } = get(name)
      const second = await request.sendTo(api, KEY)
      expect([outcome(second), isReplay(second)]).toEqual([SECOND[name] ?? [first.status, ''], false])
      expect(second.json.request_id).not.toBe(first.json.request_id)
      if (second.status === 201) expect(second.json.data.id).not.toBe(first.json.data.id)
      if (second.json.error?.code === 'VALIDATION_ERROR') return
      const third = await request.sendTo(api, KEY)
      expect([third.status, third.text, isReplay(third)]).toEqual([second.status, second.text, true])
    })
  })
})

// Guarantee: the same key text in another workspace, mode or path is another key.
describe('a key', () => {
  deepTest('of one text works once for every operation, resource, mode and workspace', async () => {
    const headers = { 'idempotency-key': 'one text' }
    const ids = new Set<string>()
    const stranger = (await api.newWorkspace()).id
    const keys = [api.testKey, api.liveKey, (await api.newKey('test', undefined, stranger)).apiKey]
    for (const [index, key] of keys.entries()) {
      for (const here of OPERATIONS.filter(({ method }) => method === 'POST')) {
        if (here.testOnly && index === 1) continue
        for (let resource = 0; resource < (here.resource === undefined ? 1 : 2); resource += 1) {
          const id = here.resource === undefined ? UNKNOWN_ID : await makeResource(api, here.resource, key)
          const answer = await send(api, here, { key, id, headers })
          expect([here.path, ...outcome(answer), isReplay(answer)]).toEqual([here.path, here.success, '', false])
          ids.add(answer.json.request_id)
          const again = await send(api, here, { key, id: id.toUpperCase(), headers })
          expect([again.text, isReplay(again)]).toEqual([answer.text, true])
        }
      }
    }
    expect(ids.size).toBe(3 * (5 + 3 * 2) - 2)
  })

  it('is shared by all API keys of a workspace and mode', async () => {
    const headers = { 'idempotency-key': 'shared' }
    const create = operation('POST /invoices')
    const first = await send(api, create, { headers })
    const other = (await api.newKey('test', ['invoices:write'])).apiKey
    const again = await send(api, create, { key: other, headers })
    expect([again.text, isReplay(again)]).toEqual([first.text, true])
  })

  it.each(sampleOf(['A', 'a', '$where', '{"$gt":""}', '__proto__', 'a:b', '../x', '%2e'], 3))(
    'may be %j',
    async (text) => {
      // A header carries bytes: what is not ASCII goes out as Latin-1.
      const headers = { 'idempotency-key': `odd ${text}` }
      const create = operation('POST /products')
      const first = await send(api, create, { headers })
      expect([first.status, isReplay(first)]).toEqual([201, false])
      expect((await send(api, create, { headers })).text).toBe(first.text)
    },
  )

  it.each(
    sampleOf(
      NAMED_OPERATIONS.filter(([, { method }]) => method !== 'POST'),
      3,
    ),
  )('means nothing to %s', async (_name, here) => {
    const id = here.resource === undefined ? UNKNOWN_ID : await makeResource(api, here.resource, api.testKey)
    const answers = [KEY, KEY, 'x'.repeat(300)].map((key) => ({ 'idempotency-key': key }))
    const sent = []
    for (const headers of answers) sent.push(await send(api, here, { id, headers }))
    expect(sent.map(isReplay)).toEqual([false, false, false])
    const statuses = here.method === 'DELETE' ? [200, 404, 404] : [200, 200, 200]
    expect(sent.map(({ status }) => status)).toEqual(statuses)
    expect(new Set(sent.map(({ json }) => json.request_id)).size).toBe(3)
  })
})

describe('a request that was refused before its work', () => {
  // Guarantee: what is no outcome of the operation does not use up the key.
  it.each(sampleOf(NAMED, 3))('leaves the key to %s', async (_name, keyed) => {
    const request = await prepareKeyed(api, keyed)
    const here = operation(keyed.of)
    const headers = { 'idempotency-key': KEY }
    const refusedBy = async (key: string | null, body: string, query = '') =>
      outcome(await send(api, here, { key, body, query, headers }))
    expect(await refusedBy(null, '{}')).toEqual([401, 'UNAUTHENTICATED'])
    const weak = (await api.newKey('test', ['payments:read'], request.workspaceId)).apiKey
    expect(await refusedBy(weak, '{}')).toEqual([403, 'FORBIDDEN_SCOPE'])
    await api.updateWorkspace(request.workspaceId, { status: 'suspended' })
    expect((await request.sendTo(api, KEY)).status).toBe(403)
    await api.updateWorkspace(request.workspaceId, { status: 'restricted' })
    if (here.restricted) expect((await request.sendTo(api, KEY)).status).toBe(403)
    await api.updateWorkspace(request.workspaceId, { status: 'active' })
    expect(await refusedBy(request.apiKey, '{')).toEqual([400, 'VALIDATION_ERROR'])
    expect(await refusedBy(request.apiKey, '{"surprise":1}')).toEqual([400, 'VALIDATION_ERROR'])
    const answer = await request.sendTo(api, KEY)
    expect([outcome(answer), isReplay(answer)]).toEqual([[here.success, ''], false])
  })
})
