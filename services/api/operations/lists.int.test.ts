import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openApi, type TestApi } from '#test/support/api.ts'
import { useStores } from '#test/support/stores.ts'

const stores = useStores()
let api: TestApi
let ids: string[] = []

beforeAll(async () => {
  api = await openApi(stores)
  for (let number = 1; number <= 5; number += 1) {
    const body = { amount: '25.00', currency: 'USD', order_id: number % 2 === 0 ? 'even' : 'odd' }
    const { json } = await api.call('POST', '/invoices', { body })
    ids = [json.data.id, ...ids]
    api.engine.advance(1_000)
  }
  await api.call('POST', '/invoices', { key: api.liveKey, body: { amount: '1', currency: 'USD' } })
})
afterAll(() => api.close())

const page = async (path: string, key?: string) => {
  const { status, json } = await api.call('GET', path, { ...(key !== undefined && { key }) })
  expect(status).toBe(200)
  return { ids: json.data.map(({ id }: { id: string }) => id), meta: json.meta }
}

describe('GET /invoices', () => {
  it('lists the invoices of the key mode, newest first', async () => {
    expect(await page('/invoices')).toEqual({ ids, meta: { next_cursor: null, has_more: false } })
    expect((await page('/invoices', api.liveKey)).ids).toHaveLength(1)
  })

  it('walks through pages without losing or repeating one', async () => {
    const seen: string[] = []
    let cursor = ''
    do {
      const { ids: some, meta } = await page(`/invoices?limit=2${cursor}`)
      seen.push(...some)
      expect(meta.has_more).toBe(meta.next_cursor !== null)
      cursor = meta.next_cursor === null ? '' : `&cursor=${meta.next_cursor}`
    } while (cursor !== '')
    expect(seen).toEqual(ids)
  })

  it('filters by status, order and exclusive times of creation', async () => {
    expect((await page('/invoices?order_id=even')).ids).toEqual([ids[1], ids[3]])
    expect((await page('/invoices?status=new')).ids).toEqual(ids)
    expect((await page('/invoices?status=paid')).ids).toEqual([])
    const { json } = await api.call('GET', `/invoices/${ids[2]}`)
    const at = json.data.created_at
    expect((await page(`/invoices?created_after=${at}`)).ids).toEqual([ids[0], ids[1]])
    expect((await page(`/invoices?created_before=${at}`)).ids).toEqual([ids[3], ids[4]])
    const elsewhere = at.replace('Z', '+00:00')
    expect((await page(`/invoices?created_after=${elsewhere}`)).ids).toEqual([ids[0], ids[1]])
  })

  // Guarantee: a cursor opens nothing but the list, workspace and mode it was made for.
  it('refuses cursors of other lists, workspaces and modes, and made-up ones', async () => {
    const cursor: string = (await page('/invoices?limit=1')).meta.next_cursor
    expect(cursor.length).toBeLessThanOrEqual(200)
    const stranger = (await api.newKey('test', undefined, (await api.newWorkspace()).id)).apiKey
    const changed = `${cursor.startsWith('A') ? 'B' : 'A'}${cursor.slice(1)}`
    for (const [path, key] of [
      [`/invoices?cursor=${cursor}`, stranger],
      [`/invoices?cursor=${cursor}`, api.liveKey],
      [`/payments?cursor=${cursor}`, api.testKey],
      [`/invoices?cursor=${changed}`, api.testKey],
      ['/invoices?cursor=', api.testKey],
      [`/invoices?cursor=${'x'.repeat(201)}`, api.testKey],
    ] as const) {
      const { status, json } = await api.call('GET', path, { key })
      expect([status, json.error.code, json.error.details[0].path]).toEqual([400, 'VALIDATION_ERROR', 'cursor'])
    }
  })
})

it.each([
  ['/invoices?limit=0', 'limit'],
  ['/invoices?limit=101', 'limit'],
  ['/invoices?limit=1.5', 'limit'],
  ['/invoices?limit=%2B5', 'limit'],
  ['/invoices?limit=05', 'limit'],
  ['/invoices?limit=', 'limit'],
  ['/invoices?limit=1&limit=2', 'limit'],
  ['/invoices?status=done', 'status'],
  [`/invoices?order_id=${'x'.repeat(121)}`, 'order_id'],
  ['/invoices?created_after=2026-01-01', 'created_after'],
  ['/invoices?created_after=2026-01-01T00:00:00', 'created_after'],
  ['/invoices?created_before=2026-02-30T00:00:00Z', 'created_before'],
  ['/invoices?created_before=yesterday', 'created_before'],
  ['/invoices?status[$ne]=new', 'status[$ne]'],
  ['/invoices?__proto__=x', '__proto__'],
  ['/payments?invoice_id=abc', 'invoice_id'],
  ['/payments?status=paid', 'status'],
  ['/webhook-endpoints?limit=1', 'limit'],
])('refuses %s at %s', async (path, field) => {
  const { status, json } = await api.call('GET', path, { key: (await api.newKey('test')).apiKey })
  expect([status, json.error.code]).toEqual([400, 'VALIDATION_ERROR'])
  expect(json.error.details.map(({ path: where }: { path: string }) => where)).toEqual([field])
})

it.each([
  ['/invoices', 'invoices:write'],
  ['/payments', 'invoices:read'],
  ['/webhook-endpoints', 'payments:read'],
] as const)('%s needs a key and its scope', async (path, otherScope) => {
  expect((await api.call('GET', path, { key: null })).status).toBe(401)
  expect((await api.call('GET', path, { key: (await api.newKey('test', [otherScope])).apiKey })).status).toBe(403)
})

it('GET /payments gives an unknown invoice an empty list', async () => {
  expect((await page('/payments?invoice_id=019a0000-0000-7000-8000-000000000000')).ids).toEqual([])
})
