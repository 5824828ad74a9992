import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { ApiAnswer, TestApi } from '#test/support/api.ts'
import { sampleObservation } from '#test/support/db-samples.ts'
import { sampleOf } from '#test/support/depth.ts'
import { useStores } from '#test/support/stores.ts'
import { makeResource, openContractApi, outcome, send } from './contract-stage.ts'
import { operation } from './operations.ts'

const stores = useStores()
const LISTS = ['invoices', 'payment-links', 'products', 'payments'] as const
type List = (typeof LISTS)[number]
type Query = Readonly<Record<string, string>>
let api: TestApi
let processes: readonly TestApi[]

beforeAll(async () => {
  api = await openContractApi(stores)
  processes = [api, await openContractApi(stores)]
})
afterAll(() => Promise.all(processes.map((one) => one.close())))

interface Shop {
  readonly workspaceId: string
  readonly key: string
  readonly liveKey: string
  /** The payer's invoice of every payment that is added. */
  readonly invoiceId: string
}

async function newShop(): Promise<Shop> {
  const { id: workspaceId } = await api.newWorkspace()
  const key = (await api.newKey('test', undefined, workspaceId)).apiKey
  const liveKey = (await api.newKey('live', undefined, workspaceId)).apiKey
  return { workspaceId, key, liveKey, invoiceId: await makeResource(api, 'invoices', key) }
}

/** Adds a record to a list through one of the processes and gives its id. */
async function add(list: List, { workspaceId, key, invoiceId }: Shop, to: TestApi = api): Promise<string> {
  if (list !== 'payments') return makeResource(to, list, key)
  const { payments, clock } = to.deps
  const now = clock.now()
  const observation = sampleObservation(randomUUID(), { workspaceId, invoiceId, firstSeenAt: now })
  const [payment] = await payments.recordObservations([observation], 1, now)
  return payment?.id ?? ''
}

async function addMany(list: List, shop: Shop, count: number): Promise<readonly string[]> {
  const ids: string[] = []
  for (let index = 0; index < count; index += 1) ids.push(await add(list, shop, processes[index % 2]))
  return ids.reverse()
}

function request(list: string, query: Query, key: string, from: TestApi = api): Promise<ApiAnswer> {
  return from.call('GET', `/${list}?${new URLSearchParams(query)}`, { key })
}

async function read(list: string, query: Query, key: string, from: TestApi = api) {
  const answer = await request(list, query, key, from)
  expect([list, query, ...outcome(answer)]).toEqual([list, query, 200, ''])
  const { data, meta } = answer.json
  expect(Object.keys(meta)).toEqual(['next_cursor', 'has_more'])
  expect(meta.has_more).toBe(meta.next_cursor !== null)
  const ids: string[] = data.map(({ id }: { id: string }) => id)
  const cursor: string | null = meta.next_cursor
  return { ids, cursor }
}

/** Every id of a list page by page, from both processes in turn, while something else happens with each page. */
async function walk(
  list: List,
  key: string,
  query: Query,
  meanwhile: () => Promise<unknown> = () => Promise.resolve(),
): Promise<readonly string[]> {
  const seen: string[] = []
  let pages = 0
  for (let cursor: string | null = ''; cursor !== null; pages += 1) {
    const step: Query = cursor === '' ? query : { ...query, cursor }
    const [page] = await Promise.all([read(list, step, key, processes[pages % 2]), meanwhile()])
    expect(page.ids.length).toBeLessThanOrEqual(Number(query['limit'] ?? 20))
    seen.push(...page.ids)
    cursor = page.cursor
  }
  return seen
}

// Guarantee: who walks a list sees everything that was in it when the walk began, once, whatever is added meanwhile.
describe.each(sampleOf(LISTS, 2))('a walk through GET /%s', (list) => {
  it.each(sampleOf([7, 1], 1))(
    'by pages of %i neither repeats nor misses one while others are added',
    async (limit) => {
      const shop = await newShop()
      await addMany(list, shop, limit === 1 ? 6 : 25)
      const start = (await read(list, { limit: '100' }, shop.key)).ids
      const added: string[] = []
      const grow = () => Promise.all(processes.map(async (to) => added.push(await add(list, shop, to))))
      const seen = await walk(list, shop.key, { limit: String(limit) }, grow)
      expect(new Set(seen).size).toBe(seen.length)
      expect(seen.filter((id) => start.includes(id))).toEqual(start)
      expect(seen.filter((id) => !start.includes(id) && !added.includes(id))).toEqual([])
      const now = (await read(list, { limit: '100' }, shop.key)).ids
      expect(new Set(now)).toEqual(new Set([...start, ...added]))
      expect(now.slice(-start.length)).toEqual(start)
    },
  )

  it('has twenty records a page without a limit, and at most a hundred', async () => {
    const shop = await newShop()
    const ids = await addMany(list, shop, 21)
    const first = await read(list, {}, shop.key)
    expect(first.ids).toEqual(ids.slice(0, 20))
    const all = await read(list, { limit: '100' }, shop.key)
    expect(all.ids.slice(0, 21)).toEqual(ids)
    expect(all.cursor).toBeNull()
    const exact = await read(list, { limit: String(all.ids.length) }, shop.key)
    expect(exact).toEqual(all)
  })

  // Guarantee: a cursor opens nothing but the list, workspace, mode and filters that it was made for.
  it('refuses a cursor of another list, workspace or mode', async () => {
    const shop = await newShop()
    const stranger = await newShop()
    await addMany(list, shop, 3)
    const { cursor } = await read(list, { limit: '1' }, shop.key)
    const query = { cursor: cursor ?? '' }
    expect(query.cursor.length).toBeLessThanOrEqual(200)
    const refusals = [
      await request(list, query, shop.liveKey),
      await request(list, query, stranger.key),
      ...(await Promise.all(LISTS.filter((other) => other !== list).map((other) => request(other, query, shop.key)))),
    ]
    for (const answer of refusals) {
      expect(outcome(answer)).toEqual([400, 'VALIDATION_ERROR'])
      expect(answer.json.error.details).toEqual([{ path: 'cursor', message: expect.any(String) }])
    }
    const other = (await api.newKey('test', undefined, shop.workspaceId)).apiKey
    expect((await read(list, { ...query, limit: '2' }, other)).ids).toHaveLength(2)
  })
})

describe('the filters of GET /invoices', () => {
  it('hold over a walk in which invoices come and change', async () => {
    const shop = await newShop()
    const create = (order_id: string) =>
      api.call('POST', '/invoices', { key: shop.key, body: { amount: '1.00', currency: 'USD', order_id } })
    const wanted: string[] = []
    for (let index = 0; index < 9; index += 1) {
      wanted.unshift((await create('wanted')).json.data.id)
      await create('other')
    }
    const cancelOther = async () => {
      const { json } = await create('other')
      await send(api, operation('POST /invoices/{id}/cancel'), { key: shop.key, id: json.data.id })
    }
    expect(await walk('invoices', shop.key, { limit: '2', order_id: 'wanted' }, cancelOther)).toEqual(wanted)
    expect(await walk('invoices', shop.key, { limit: '2', order_id: 'wanted', status: 'new' })).toEqual(wanted)
    const cancelled = await walk('invoices', shop.key, { limit: '3', status: 'cancelled' })
    expect(cancelled).toHaveLength(5)
    expect(await walk('invoices', shop.key, { limit: '3', status: 'cancelled', order_id: 'wanted' })).toEqual([])
  })

  it('find an order by its exact text only', async () => {
    const shop = await newShop()
    const texts = ['A-1', 'a-1', 'A-1 ', 'A', '.*', '{"$ne":""}', 'ü', 'u\u0308', `${'x'.repeat(120)}`]
    for (const order_id of texts) {
      const body = { amount: '1.00', currency: 'USD', order_id }
      expect((await api.call('POST', '/invoices', { key: shop.key, body })).status).toBe(201)
    }
    for (const order_id of texts) {
      const { json } = await request('invoices', { order_id }, shop.key)
      expect(json.data.map((invoice: { order_id: string }) => invoice.order_id)).toEqual([order_id])
    }
  })

  it('find each status, and nothing but it', async () => {
    const shop = await newShop()
    const body = { amount: '25.00', currency: 'USD', asset: 'eth_base' }
    const ids = new Map([['new', shop.invoiceId]])
    await api.engine.watchEverything()
    for (const status of ['pending', 'partial', 'paid', 'overpaid', 'expired']) {
      const id: string = (await api.call('POST', '/invoices', { key: shop.key, body })).json.data.id
      ids.set(status, id)
      const simulate = operation('POST /test/invoices/{id}/simulate')
      if (status !== 'pending') await send(api, simulate, { key: shop.key, id, body: { scenario: status } })
    }
    for (const status of ['new', 'pending', 'partial', 'confirming', 'paid', 'overpaid', 'expired', 'cancelled']) {
      const id = ids.get(status)
      expect([status, (await read('invoices', { status }, shop.key)).ids]).toEqual([
        status,
        id === undefined ? [] : [id],
      ])
    }
  })

  it('bound a walk by time in every way to write it', async () => {
    const shop = await newShop()
    await addMany('invoices', shop, 4)
    const { json } = await request('invoices', {}, shop.key)
    const middle = json.data[2]
    const inOffset = middle.created_at.replace('Z', '+00:00')
    const later = json.data.filter(({ created_at }: { created_at: string }) => created_at > middle.created_at)
    for (const created_after of [middle.created_at, inOffset, middle.created_at.replace('Z', '-00:00')]) {
      const found = await walk('invoices', shop.key, { created_after, limit: '1' })
      expect(found).toEqual(later.map(({ id }: { id: string }) => id))
    }
    const between = { created_after: json.data[4].created_at, created_before: json.data[0].created_at }
    expect(await walk('invoices', shop.key, { ...between, limit: '2' })).toEqual(
      json.data.slice(1, 4).map(({ id }: { id: string }) => id),
    )
    const none = { created_after: middle.created_at, created_before: middle.created_at }
    expect((await read('invoices', none, shop.key)).ids).toEqual([])
  })

  it('belong to the cursor', async () => {
    const shop = await newShop()
    await addMany('invoices', shop, 3)
    const { cursor } = await read(
      'invoices',
      { limit: '1', status: 'new', created_after: '2020-01-01T00:00:00Z' },
      shop.key,
    )
    const at = { cursor: cursor ?? '' }
    const same = { ...at, status: 'new', created_after: '2020-01-01T02:00:00+02:00' }
    expect((await read('invoices', same, shop.key)).ids).toHaveLength(3)
    for (const other of [
      at,
      { ...at, status: 'new' },
      { ...same, status: 'paid' },
      { ...same, order_id: 'x' },
      { ...same, created_after: '2020-01-01T00:00:01Z' },
      { ...at, status: 'new', created_before: '2020-01-01T00:00:00Z' },
    ]) {
      const answer = await request('invoices', other, shop.key)
      expect([other, ...outcome(answer)]).toEqual([other, 400, 'VALIDATION_ERROR'])
      expect(answer.json.error.details).toEqual([{ path: 'cursor', message: expect.any(String) }])
    }
  })
})

it('GET /payments of one invoice is a separate list', async () => {
  const shop = await newShop()
  const other = { ...shop, invoiceId: await makeResource(api, 'invoices', shop.key) }
  const mine = await addMany('payments', shop, 5)
  const grow = () => add('payments', other)
  await grow()
  const query = { invoice_id: shop.invoiceId, limit: '2' }
  expect(await walk('payments', shop.key, query, grow)).toEqual(mine)
  const { cursor } = await read('payments', query, shop.key)
  const upper = { ...query, invoice_id: shop.invoiceId.toUpperCase(), cursor: cursor ?? '' }
  expect((await read('payments', upper, shop.key)).ids).toEqual(mine.slice(2, 4))
  const answer = await request('payments', { ...query, invoice_id: other.invoiceId, cursor: cursor ?? '' }, shop.key)
  expect(outcome(answer)).toEqual([400, 'VALIDATION_ERROR'])
})

// Lists without pages: everything in one answer, and no parameter that would pretend otherwise.
describe.each(['currencies', 'rates', 'webhook-endpoints'])('GET /%s', (list) => {
  it('has one page and no page parameters', async () => {
    const { json } = await request(list, {}, api.testKey)
    expect(json.meta).toEqual({ next_cursor: null, has_more: false })
    for (const name of ['limit', 'cursor', 'order_id', 'status']) {
      const answer = await request(list, { [name]: '1' }, api.testKey)
      expect([outcome(answer), answer.json.error.details[0].path]).toEqual([[400, 'VALIDATION_ERROR'], name])
    }
  })
})
