import { afterAll, beforeAll, expect, it } from 'vitest'
import { AUDIT_LOG } from '#shared/db/audit/audit-model.ts'
import { MODELS } from '#shared/db/schema/models.ts'
import { API_KEYS } from '#shared/db/workspaces/api-key-model.ts'
import { openApi, type TestApi } from '#test/support/api.ts'
import { sampleOf } from '#test/support/depth.ts'
import { useStores } from '#test/support/stores.ts'
import { BAD_REQUESTS } from './bad-requests.fixture.ts'

const stores = useStores()
let api: TestApi
let invoiceId: string
let endpointId: string
let before: string

beforeAll(async () => {
  api = await openApi(stores)
  const invoice = { amount: '25.00', currency: 'USD', asset: 'usdt_ethereum' }
  invoiceId = (await api.call('POST', '/invoices', { body: invoice })).json.data.id
  const endpoint = { url: 'https://1.1.1.1/hook', events: ['*'] }
  endpointId = (await api.call('POST', '/webhook-endpoints', { body: endpoint })).json.data.id
  before = await everything()
})
afterAll(() => api.close())

/** The whole store but the keys, of which every request takes a new one for its own bucket, and their rows in the audit log. */
async function everything(): Promise<string> {
  const found: Record<string, unknown> = {}
  for (const model of MODELS) {
    const of = model === AUDIT_LOG ? { action: { $ne: 'api_key.created' } } : {}
    if (model !== API_KEYS) found[model.name] = await stores.db.collection(model).find(of).sort({ _id: 1 }).toArray()
  }
  return JSON.stringify(found)
}

it('knows bad requests for every operation that takes input', () => {
  expect(BAD_REQUESTS.length).toBeGreaterThanOrEqual(500)
})

it.each(
  sampleOf(
    BAD_REQUESTS.map((row, index) => [index, row[0], row[1].slice(0, 60), row] as const),
    60,
  ),
)('refuses #%i %s %s', async (_index, method, _path, [, template, request, status, code, paths]) => {
  const path = template.replace('INVOICE', invoiceId).replace('ENDPOINT', endpointId)
  const key = request.key === undefined ? (await api.newKey('test')).apiKey : request.key
  const answer = await api.call(method, path, { ...request, key })
  const details = answer.json.error?.details?.map((detail: { path: string }) => detail.path) ?? null
  expect([answer.status, answer.json.error?.code, paths === null ? null : details]).toEqual([status, code, paths])
  expect(Object.keys(answer.json)).toEqual(['data', 'error', 'request_id'])
  expect(answer.json.data).toBeNull()
  expect(answer.headers.get('x-ratelimit-limit')).toBe('120')
})

// Guarantee: no refused request leaves a trace, whatever it carried.
it('has changed nothing', async () => {
  expect(await everything()).toBe(before)
})
