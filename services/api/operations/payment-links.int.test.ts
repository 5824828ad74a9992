import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { paymentLinkResource } from '#shared/contracts/http/payment-link-resource.ts'
import { AUDIT_LOG } from '#shared/db/audit/audit-model.ts'
import { createInvoiceRepository } from '#shared/db/invoices/invoice-repository.ts'
import { openApi, type TestApi } from '#test/support/api.ts'
import { sampleInvoice } from '#test/support/db-samples.ts'
import { useStores } from '#test/support/stores.ts'

const stores = useStores()
let api: TestApi
const FIXED = { title: 'Coffee', currency: 'USD', amount: '3.5' }
const UNKNOWN = '019a0000-0000-7000-8000-000000000000'

beforeAll(async () => {
  api = await openApi(stores)
})
afterAll(() => api.close())

const create = (body: unknown = FIXED, key = api.testKey, headers: Record<string, string> = {}) =>
  api.call('POST', '/payment-links', { key, headers, body })
const idOf = async (key = api.testKey): Promise<string> => (await create(FIXED, key)).json.data.id
const deactivate = (id: string, headers: Record<string, string> = {}) =>
  api.call('POST', `/payment-links/${id}/deactivate`, { headers })
const freshKey = async (): Promise<string> => (await api.newKey('test')).apiKey
const strangerKey = async (): Promise<string> =>
  (await api.newKey('test', undefined, (await api.newWorkspace()).id)).apiKey
const pathsOf = ({ json }: { json: { error: { details: { path: string }[] } } }) =>
  json.error.details.map(({ path }) => path)
const withoutRequestId = ({ text }: { text: string }) => text.replace(/req_\w+/, '')

/** Invoices made from a link, as the checkout will make them. */
async function use(paymentLinkId: string, times: number): Promise<void> {
  for (let nth = 0; nth < times; nth += 1) {
    const invoice = sampleInvoice(stores.runtime.random, { workspaceId: paymentLinkId, number: nth + 1 })
    await createInvoiceRepository(stores.db).insert({ ...invoice, terms: { ...invoice.terms, paymentLinkId } })
  }
}

describe('every operation on one payment link', () => {
  const operations = [
    ['GET', '', 'links:write'],
    ['POST', '/deactivate', 'links:read'],
  ] as const

  // Guarantee: nobody can find out whether a link of another workspace or mode exists, or end it.
  it.each(operations)('%s %s gives foreign, other-mode and unknown links the same 404', async (method, suffix) => {
    const foreign = await idOf(await strangerKey())
    const live = await idOf(api.liveKey)
    const answers = []
    for (const id of [UNKNOWN, foreign, live]) answers.push(await api.call(method, `/payment-links/${id}${suffix}`))
    expect(answers.map(({ status, json }) => [status, json.error.code])).toEqual(Array(3).fill([404, 'NOT_FOUND']))
    expect(new Set(answers.map(withoutRequestId)).size).toBe(1)
    const link = (await api.call('GET', `/payment-links/${live}`, { key: api.liveKey })).json.data
    expect(link.status).toBe('active')
  })

  it.each(operations)('%s %s refuses bad ids, queries, keys and scopes', async (method, suffix, scope) => {
    const key = await freshKey()
    const id = await idOf(key)
    for (const wrong of ['abc', `${id}x`, '%00']) {
      const answer = await api.call(method, `/payment-links/${wrong}${suffix}`, { key })
      expect([answer.status, pathsOf(answer)]).toEqual([400, ['id']])
    }
    const queried = await api.call(method, `/payment-links/${id}${suffix}?x=1`, { key })
    expect([queried.status, pathsOf(queried)]).toEqual([400, ['x']])
    expect((await api.call(method, `/payment-links/${id}${suffix}`, { key: null })).status).toBe(401)
    const { apiKey } = await api.newKey('test', [scope])
    const { status, json } = await api.call(method, `/payment-links/${id}${suffix}`, { key: apiKey })
    expect([status, json.error.code]).toEqual([403, 'FORBIDDEN_SCOPE'])
  })
})

describe('POST /payment-links/{id}/deactivate', () => {
  // Guarantee: a link that ended stays as it ended; its invoices still count.
  it('ends a link once and answers 200 unchanged ever after', async () => {
    const key = await freshKey()
    const before = (await create(FIXED, key)).json.data
    await use(before.id, 2)
    api.engine.advance(1_000)
    const first = await api.call('POST', `/payment-links/${before.id.toUpperCase()}/deactivate`, { key })
    const link = paymentLinkResource.parse(first.json.data)
    const at = link.deactivated_at
    expect([first.status, at === null]).toEqual([200, false])
    expect(link).toEqual({ ...before, status: 'inactive', uses: 2, deactivated_at: at, updated_at: at })
    api.engine.advance(1_000)
    const again = await api.call('POST', `/payment-links/${before.id}/deactivate`, { key, body: {} })
    expect([again.status, again.json.data]).toEqual([200, link])
    expect((await api.call('GET', `/payment-links/${before.id}`, { key })).json.data).toEqual(link)
  })

  it('replays under an idempotency key and takes no body', async () => {
    const id = await idOf()
    const headers = { 'idempotency-key': 'end' }
    const first = await deactivate(id, headers)
    const again = await deactivate(id, headers)
    expect([again.status, again.text, again.headers.get('idempotent-replayed')]).toEqual([200, first.text, 'true'])
    const other = await deactivate(await idOf(), headers)
    expect([other.status, other.headers.get('idempotent-replayed')]).toEqual([200, null])
    const refused = await api.call('POST', `/payment-links/${id}/deactivate`, { body: { reason: 'x' } })
    expect([refused.status, pathsOf(refused)]).toEqual([400, ['reason']])
  })
})

describe('GET /payment-links', () => {
  const page = async (key: string, query = '') => {
    const { status, json } = await api.call('GET', `/payment-links${query}`, { key })
    expect(status).toBe(200)
    return { data: json.data, ids: json.data.map(({ id }: { id: string }) => id), meta: json.meta }
  }

  // Guarantee: a walk over all pages meets each link that was there when it began exactly once.
  it('walks through pages, newest first, ended links and uses included, while links are added', async () => {
    const key = await strangerKey()
    const ids: string[] = []
    for (let nth = 0; nth < 5; nth += 1) ids.unshift(await idOf(key))
    await use(ids[1] ?? '', 3)
    await use(ids[4] ?? '', 1)
    await api.call('POST', `/payment-links/${ids[2]}/deactivate`, { key })
    const all = await page(key)
    expect([all.ids, all.meta]).toEqual([ids, { next_cursor: null, has_more: false }])
    for (const link of all.data) paymentLinkResource.parse(link)
    expect(all.data.map(({ uses }: { uses: number }) => uses)).toEqual([0, 3, 0, 0, 1])
    expect(all.data[2].status).toBe('inactive')
    const seen: string[] = []
    for (let cursor: string | null = ''; cursor !== null; ) {
      const { ids: some, meta } = await page(key, `?limit=2${cursor === '' ? '' : `&cursor=${cursor}`}`)
      seen.push(...some)
      cursor = meta.next_cursor
      await create(FIXED, key)
    }
    expect(seen).toEqual(ids)
  })

  it('is empty for a workspace without links, and shows the key mode only', async () => {
    const workspace = await api.newWorkspace()
    const test = (await api.newKey('test', undefined, workspace.id)).apiKey
    const live = (await api.newKey('live', undefined, workspace.id)).apiKey
    expect((await page(live)).ids).toEqual([])
    const id = await idOf(live)
    expect([(await page(live)).ids, (await page(test)).ids]).toEqual([[id], []])
  })

  it('refuses bad queries, foreign cursors, a missing key and a wrong scope', async () => {
    const key = await freshKey()
    for (const [query, path] of [
      ['limit=0', 'limit'],
      ['limit=101', 'limit'],
      ['limit=-1', 'limit'],
      ['cursor=', 'cursor'],
      ['cursor=abc', 'cursor'],
      ['status=active', 'status'],
    ]) {
      const answer = await api.call('GET', `/payment-links?${query}`, { key })
      expect([answer.status, pathsOf(answer)]).toEqual([400, [path]])
    }
    await create(FIXED, key)
    await create(FIXED, key)
    const cursor: string = (await page(key, '?limit=1')).meta.next_cursor
    expect((await api.call('GET', `/payment-links?cursor=${cursor}`, { key })).status).toBe(200)
    for (const [path, other] of [
      ['/products', key],
      ['/payment-links', api.liveKey],
      ['/payment-links', await strangerKey()],
    ] as const) {
      const answer = await api.call('GET', `${path}?cursor=${cursor}`, { key: other })
      expect([answer.status, pathsOf(answer)]).toEqual([400, ['cursor']])
    }
    expect((await api.call('GET', '/payment-links', { key: null })).status).toBe(401)
    const { apiKey } = await api.newKey('test', ['links:write'])
    expect((await api.call('GET', '/payment-links', { key: apiKey })).status).toBe(403)
  })
})

// Guarantee: what a program takes back is in the audit log, from which a restore takes it back again.
it('the audit log names the key that deactivated a link', async () => {
  const id = await idOf()
  expect((await deactivate(id)).status).toBe(200)
  const rows = await stores.db.collection(AUDIT_LOG).find({ subject: id, action: 'payment_link.deactivated' }).toArray()
  expect(rows).toMatchObject([{ actor: expect.stringMatching(/^api_key:/), mode: 'test' }])
})
