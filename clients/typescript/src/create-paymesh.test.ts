import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createPaymesh, type Paymesh } from './create-paymesh.ts'
import { fail, ok, type ScriptedApi, startScriptedApi } from './scripted-api.fixture.ts'

const ID = '01930000-0000-7000-8000-000000000001'
const CREATE = { amount: '25.00', currency: 'USD' } as const

let api: ScriptedApi
beforeAll(async () => {
  api = await startScriptedApi()
})
afterAll(async () => await api.close())

describe('operations', () => {
  const link = { title: 'Tea', currency: 'USD', amount: '5.00' } as const
  const endpoint = { url: 'https://shop.example/hooks', events: ['*' as const] }
  const estimate = { amount: '25.00', currency: 'USD', asset: 'btc_bitcoin' } as const
  type Operation = [string, (paymesh: Paymesh) => Promise<unknown>, object?]
  const operations: readonly Operation[] = [
    ['POST /invoices', (it) => it.invoices.create(CREATE), CREATE],
    [`GET /invoices/${ID}`, (it) => it.invoices.get(ID)],
    ['GET /invoices?status=paid&order_id=a%26b', (it) => it.invoices.list({ status: 'paid', order_id: 'a&b' }).page()],
    [`POST /invoices/${ID}/cancel`, (it) => it.invoices.cancel(ID)],
    [`POST /test/invoices/${ID}/simulate`, (it) => it.invoices.simulate(ID, 'paid'), { scenario: 'paid' }],
    ['POST /payment-links', (it) => it.paymentLinks.create(link), link],
    [`GET /payment-links/${ID}`, (it) => it.paymentLinks.get(ID)],
    ['GET /payment-links?limit=5', (it) => it.paymentLinks.list({ limit: 5 }).page()],
    [`POST /payment-links/${ID}/deactivate`, (it) => it.paymentLinks.deactivate(ID)],
    [
      'POST /products',
      (it) => it.products.create({ name: 'Tea', price: '5.00', currency: 'USD' }),
      { name: 'Tea', price: '5.00', currency: 'USD' },
    ],
    [`GET /products/${ID}`, (it) => it.products.get(ID)],
    ['GET /products', (it) => it.products.list().page()],
    [`GET /payments?invoice_id=${ID}`, (it) => it.payments.list({ invoice_id: ID }).page()],
    ['GET /currencies', (it) => it.currencies.list().page()],
    ['GET /rates?fiat=EUR', (it) => it.rates.list({ fiat: 'EUR' }).page()],
    ['POST /estimate', (it) => it.estimate(estimate), estimate],
    ['GET /webhook-endpoints', (it) => it.webhookEndpoints.list().page()],
    ['POST /webhook-endpoints', (it) => it.webhookEndpoints.create(endpoint), endpoint],
    [`DELETE /webhook-endpoints/${ID}`, (it) => it.webhookEndpoints.delete(ID)],
  ]

  test('all 19 are here', () => expect(operations).toHaveLength(19))

  test.each(operations)('%s', async (operation, call, body) => {
    const isList = operation.startsWith('GET') && !operation.includes(`/${ID}`)
    api.play(isList ? ok([{ id: ID }], { next_cursor: null, has_more: false }) : ok({ id: ID }))
    const result = await call(api.client())
    expect(result).toMatchObject(isList ? { requestId: 'req_ok' } : { id: ID })
    const [request] = api.seen
    expect(api.seen).toHaveLength(1)
    expect(`${request?.method} ${request?.url?.replace('/api/v1', '')}`).toBe(operation)
    expect(request?.headers['authorization']).toBe('Bearer pm_test_example')
    expect(request?.headers['user-agent']).toMatch(/^paymesh-client-typescript\/[0-9.]+$/)
    expect(request?.headers['content-type']).toBe(body === undefined ? undefined : 'application/json')
    expect(request?.body).toBe(body === undefined ? '' : JSON.stringify(body))
    expect(request?.headers['idempotency-key'] !== undefined).toBe(request?.method === 'POST')
  })

  /** An empty id would turn "get one" into "list", and a dotted one could walk to another resource. */
  test.each(['', '..', '../products', `${ID}/cancel`, 'undefined'])(
    'the id %j never leaves the process',
    async (id) => {
      api.play()
      await expect(api.client().invoices.get(id)).rejects.toThrow(TypeError)
      expect(api.seen).toHaveLength(0)
    },
  )
})

describe('idempotency keys', () => {
  test('each call has its own random key', async () => {
    api.play(ok({}), ok({}))
    const paymesh = api.client()
    await paymesh.invoices.create(CREATE)
    await paymesh.invoices.create(CREATE)
    const keys = api.seen.map((request) => request.headers['idempotency-key'])
    expect(new Set(keys).size).toBe(2)
    for (const key of keys) expect(key).toMatch(/^[0-9a-f-]{36}$/)
  })

  /** A retry with another key or another body would charge a customer twice or be refused as a mismatch. */
  test('all attempts of one call carry the same key and the same bytes', async () => {
    api.play(fail(500, 'INTERNAL_ERROR'), 'cut', fail(409, 'IDEMPOTENCY_IN_PROGRESS'), ok({ id: ID }, undefined, 201))
    await api.client().invoices.create(CREATE)
    expect(api.seen).toHaveLength(4)
    expect(new Set(api.seen.map((request) => request.headers['idempotency-key'])).size).toBe(1)
    expect(new Set(api.seen.map((request) => request.body)).size).toBe(1)
  })

  test("the caller's own key is sent as it is", async () => {
    api.play(ok({}))
    await api.client().invoices.create(CREATE, { idempotencyKey: 'order-77' })
    expect(api.seen[0]?.headers['idempotency-key']).toBe('order-77')
  })

  test.each(['', 'x'.repeat(256), 'a\nb', ' a', 'ключ'])(
    'the key %j is refused before anything is sent',
    async (idempotencyKey) => {
      api.play()
      await expect(api.client().invoices.create(CREATE, { idempotencyKey })).rejects.toThrow(TypeError)
      expect(api.seen).toHaveLength(0)
    },
  )
})

describe('lists', () => {
  const pages = [
    ok([{ id: 1 }, { id: 2 }], { next_cursor: 'c1', has_more: true }),
    ok([{ id: 3 }], { next_cursor: 'c2', has_more: true }),
    ok([{ id: 4 }], { next_cursor: null, has_more: false }),
  ]

  test('iterate over all pages, with the same filter on each', async () => {
    api.play(...pages)
    const ids: unknown[] = []
    for await (const invoice of api.client().invoices.list({ status: 'paid', limit: 2 })) ids.push(invoice.id)
    expect(ids).toEqual([1, 2, 3, 4])
    expect(api.seen.map((request) => request.url)).toEqual([
      '/api/v1/invoices?status=paid&limit=2',
      '/api/v1/invoices?status=paid&limit=2&cursor=c1',
      '/api/v1/invoices?status=paid&limit=2&cursor=c2',
    ])
  })

  test('fetch a page only when it is needed', async () => {
    api.play(...pages)
    const list = api.client().invoices.list()
    expect(api.seen).toHaveLength(0)
    for await (const _invoice of list) break
    expect(api.seen).toHaveLength(1)
  })

  test('give one page with its cursor', async () => {
    api.play(...pages)
    const page = await api.client().invoices.list({ cursor: 'c0' }).page()
    expect(page).toEqual({
      data: [{ id: 1 }, { id: 2 }],
      meta: { next_cursor: 'c1', has_more: true },
      requestId: 'req_ok',
    })
    expect(api.seen[0]?.url).toBe('/api/v1/invoices?cursor=c0')
  })

  test('retry a page like any other call', async () => {
    api.play(...pages.slice(0, 1), fail(500, 'INTERNAL_ERROR'), ...pages.slice(1))
    let count = 0
    for await (const _invoice of api.client().invoices.list()) count += 1
    expect(count).toBe(4)
  })

  test('end instead of going in circles', async () => {
    api.play(...[1, 2].map(() => ok([{ id: 1 }], { next_cursor: 'same', has_more: true })))
    const walk = async (): Promise<void> => {
      for await (const _invoice of api.client().invoices.list()) expect(api.seen.length).toBeLessThan(3)
    }
    await expect(walk()).rejects.toThrow('does not advance')
  })
})

describe('settings', () => {
  test.each([
    { apiKey: '' },
    { apiKey: 'pm_test_a\nb' },
    { baseUrl: '' },
    { baseUrl: 'ftp://pay.example/api/v1' },
    { baseUrl: 'https://pay.example/api/v1?x=1' },
    { timeoutMs: 0 },
    { timeoutMs: Number.NaN },
    { maxRetries: -1 },
    { maxRetries: 1.5 },
  ])('%j is refused', (wrong) => {
    expect(() => createPaymesh({ apiKey: 'k', baseUrl: 'https://pay.example/api/v1', ...wrong })).toThrow(TypeError)
  })

  test('a slash at the end of the base URL changes nothing', async () => {
    const urls: string[] = []
    const client = createPaymesh({
      apiKey: 'k',
      baseUrl: 'https://pay.example/api/v1/',
      fetch: async (url) => {
        urls.push(url)
        return new Response('{"data":{},"error":null,"request_id":"req_1"}')
      },
    })
    await client.invoices.get(ID)
    expect(urls).toEqual([`https://pay.example/api/v1/invoices/${ID}`])
  })
})

// Guarantee: refusals whose cause is gone keep no order from its invoice, however many of them the API repeats, nor make its calls longer.
test('ensure opens an invoice after thirty refusals of a day', async () => {
  const refused = new Set<string>()
  let nowMs = 1_764_500_000_000
  let isSetUp = false
  let requests = 0
  const answer = (status: number, data: unknown, more: object, isReplayed = false) => ({
    status,
    headers: { get: (name: string) => (isReplayed && name === 'idempotent-replayed' ? 'true' : null) },
    text: async () => JSON.stringify({ data, error: null, request_id: 'req_1', ...more }),
  })
  const shop = createPaymesh({
    ...{ apiKey: 'pm_test_example', baseUrl: 'https://pay.example/api/v1', now: () => nowMs },
    fetch: async (url, { method, headers }) => {
      requests += 1
      const key = headers['idempotency-key'] ?? ''
      if (url.includes('?')) return answer(200, [], { meta: { next_cursor: null, has_more: false } })
      if (method === 'GET' || (isSetUp && !refused.has(key))) return answer(200, { id: ID, status: 'new' }, {})
      const isReplayed = refused.has(key)
      refused.add(key)
      return answer(400, null, { error: { code: 'NO_WALLET_FOR_ASSET', message: 'No wallet.' } }, isReplayed)
    },
  })
  for (let view = 0; view < 30; view += 1) {
    await expect(shop.invoices.ensure({ ...CREATE, order_id: '7' })).rejects.toMatchObject({ isReplayed: false })
    nowMs += 60_000
  }
  isSetUp = true
  requests = 0
  expect(await shop.invoices.ensure({ ...CREATE, order_id: '7' })).toMatchObject({ id: ID })
  expect(requests).toBe(5)
})
