import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createPaymesh, type FetchLike, type Paymesh, type PaymeshOptions } from '#clients/typescript/src/main.ts'
import { ASSET_IDS } from '#shared/domain/enumerations.ts'
import { openApi, type TestApi } from '#test/support/api.ts'
import { deepTest } from '#test/support/depth.ts'
import { useStores } from '#test/support/stores.ts'
import { nameOf, OPERATIONS } from '../contract/operations.ts'
import { type LossyProxy, startLossyProxy } from './lossy-proxy.ts'

const UUID = /[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/
const stores = useStores()
let api: TestApi
let proxy: LossyProxy

beforeAll(async () => {
  api = await openApi(stores)
  proxy = await startLossyProxy(api.baseUrl)
})
afterAll(async () => {
  await proxy.close()
  await api.close()
})

/** A client with a key, and so a rate limit, of its own in the workspace of this file. */
async function newClient(options: Partial<PaymeshOptions> = {}): Promise<Paymesh> {
  const { apiKey } = await api.newKey('test')
  return createPaymesh({ apiKey, baseUrl: api.baseUrl, ...options })
}

describe('the client and the API', () => {
  it('understand each other in all 19 operations', async () => {
    const sent = new Set<string>()
    const watched: FetchLike = async (url, init) => {
      sent.add(`${init.method} ${new URL(url).pathname.replace('/api/v1', '').replace(UUID, '{id}')}`)
      return await fetch(url, init)
    }
    const paymesh = await newClient({ fetch: watched, maxRetries: 0 })

    const invoice = await paymesh.invoices.create({ amount: '25.00', currency: 'USD', metadata: { cart: '7' } })
    expect(invoice).toMatchObject({ object: 'invoice', status: 'new', metadata: { cart: '7' }, livemode: false })
    expect(await paymesh.invoices.get(invoice.id)).toEqual(invoice)
    expect((await paymesh.invoices.list({ status: 'new' }).page()).data).toEqual([invoice])
    expect((await paymesh.invoices.cancel(invoice.id)).status).toBe('cancelled')
    const played = await paymesh.invoices.create({ amount: '25.00', currency: 'USD', asset: 'usdt_ethereum' })
    expect((await paymesh.invoices.simulate(played.id, 'paid')).status).toBe('paid')
    expect((await paymesh.payments.list({ invoice_id: played.id }).page()).data).toMatchObject([
      { object: 'payment', amount: played.crypto?.amount },
    ])

    const product = await paymesh.products.create({ name: 'Tea', price: '5.00', currency: 'USD', sku: 'tea' })
    expect(await paymesh.products.get(product.id)).toEqual(product)
    expect((await paymesh.products.list().page()).data).toEqual([product])
    const link = await paymesh.paymentLinks.create({ product_id: product.id })
    expect(link).toMatchObject({ title: 'Tea', amount: '5.00', status: 'active' })
    expect(await paymesh.paymentLinks.get(link.id)).toEqual(link)
    expect((await paymesh.paymentLinks.list().page()).data).toEqual([link])
    expect((await paymesh.paymentLinks.deactivate(link.id)).status).toBe('inactive')

    expect((await paymesh.currencies.list().page()).data.map(({ id }) => id)).toEqual(ASSET_IDS)
    expect((await paymesh.rates.list({ fiat: 'EUR', asset: 'btc_bitcoin' }).page()).data).toMatchObject([
      { asset: 'btc_bitcoin', fiat: 'EUR', fiat_per_asset: '50000' },
    ])
    const estimate = await paymesh.estimate({ amount: '50.00', currency: 'EUR', asset: 'btc_bitcoin' })
    expect(estimate).toMatchObject({ object: 'estimate', amount: '0.001' })

    const { secret, warning, ...endpoint } = await paymesh.webhookEndpoints.create({
      url: 'https://1.1.1.1/hook',
      events: ['*'],
    })
    expect(secret).toMatch(/^whsec_/)
    expect(warning).toBeNull()
    expect((await paymesh.webhookEndpoints.list().page()).data).toEqual([endpoint])
    expect(await paymesh.webhookEndpoints.delete(endpoint.id)).toMatchObject({ id: endpoint.id, deleted: true })

    expect([...sent].sort()).toEqual(OPERATIONS.map(nameOf).sort())
  })

  deepTest('iterate over more items than a page can hold, each once, newest first', async () => {
    const orderId = 'long-list'
    const created: string[] = []
    for (const _key of [1, 2, 3]) {
      const paymesh = await newClient()
      for (let number = 0; number < 40; number += 1) {
        const invoice = await paymesh.invoices.create({ amount: '1.00', currency: 'USD', order_id: orderId })
        created.unshift(invoice.id)
      }
    }
    const paymesh = await newClient()
    const walk = async (limit?: number): Promise<string[]> => {
      const seen: string[] = []
      const query = { order_id: orderId, ...(limit !== undefined && { limit }) }
      for await (const { id } of paymesh.invoices.list(query)) seen.push(id)
      return seen
    }
    expect(await walk(100)).toEqual(created)
    expect(await walk()).toEqual(created)
    const first = await paymesh.invoices.list({ order_id: orderId, limit: 100 }).page()
    expect([first.data.length, first.meta.has_more]).toEqual([100, true])
    const rest = await paymesh.invoices.list({ order_id: orderId, cursor: first.meta.next_cursor ?? '' }).page()
    expect(rest).toMatchObject({ meta: { next_cursor: null, has_more: false } })
    expect(rest.data).toHaveLength(20)
  })

  it('repeat a call under its own key: the first answer, and a refusal for another body', async () => {
    const paymesh = await newClient()
    const input = { amount: '12.00', currency: 'USD', order_id: 'replayed' } as const
    const once = { idempotencyKey: 'order-replayed' }
    const invoice = await paymesh.invoices.create(input, once)
    expect(await paymesh.invoices.create(input, once)).toEqual(invoice)
    await expect(paymesh.invoices.create({ ...input, amount: '13.00' }, once)).rejects.toMatchObject({
      name: 'PaymeshApiError',
      code: 'IDEMPOTENCY_MISMATCH',
      status: 409,
      requestId: expect.stringMatching(/^req_/),
    })
    expect((await paymesh.invoices.list({ order_id: 'replayed' }).page()).data).toHaveLength(1)
  })

  it('name the offending fields', async () => {
    const paymesh = await newClient()
    const wrong = { amount: '0', currency: 'USD', customer: { email: 'nobody' } } as const
    const error: unknown = await paymesh.invoices.create(wrong).catch((failure: unknown) => failure)
    expect(error).toMatchObject({ name: 'PaymeshApiError', code: 'VALIDATION_ERROR', status: 400, retryable: false })
    const paths = (error as { details: readonly { path: string }[] }).details.map(({ path }) => path)
    expect(paths.sort()).toEqual(['amount', 'customer.email'])
  })

  deepTest('wait out the rate limit: every call of a burst above it succeeds', async () => {
    const pausesMs: number[] = []
    // It really waits: the bucket refills by the clock of the store, which no test can put forward.
    const pause = (ms: number): Promise<void> => {
      pausesMs.push(ms)
      return new Promise((resolve) => setTimeout(resolve, ms))
    }
    const paymesh = await newClient({ sleep: pause })
    const burst = (length: number) => Promise.all(Array.from({ length }, () => paymesh.products.list().page()))
    expect(await burst(60)).toHaveLength(60)
    // The bucket refills while a slow machine empties it, so go on until it is empty.
    while (pausesMs.length === 0) expect(await burst(4)).toHaveLength(4)
    // `Retry-After` is at least a second; the jitter is only added to it.
    for (const ms of pausesMs) expect(ms).toBeGreaterThanOrEqual(1_000)
  })
})

describe('on a network that fails', () => {
  // Money: an answer that is lost on its way must not make a second invoice.
  it('a POST whose answer is lost is retried, and there is one invoice', async () => {
    const paymesh = await newClient({ baseUrl: proxy.baseUrl })
    proxy.plan('lose_answer')
    const invoice = await paymesh.invoices.create({
      amount: '25.00',
      currency: 'USD',
      asset: 'usdt_ethereum',
      order_id: 'lost-answer',
    })
    expect(proxy.answers).toEqual([
      { operation: 'POST /invoices', status: 201, replayed: false },
      { operation: 'POST /invoices', status: 201, replayed: true },
    ])
    const { data } = await paymesh.invoices.list({ order_id: 'lost-answer' }).page()
    expect(data).toEqual([invoice])
  })

  // Money: the retry may come while the first attempt still runs.
  it('a POST cut while the API works on it is retried, and there is one invoice', async () => {
    const paymesh = await newClient({ baseUrl: proxy.baseUrl })
    proxy.plan('cut_while_working', 'cut_while_working')
    const invoice = await paymesh.invoices.create({ amount: '25.00', currency: 'USD', order_id: 'cut' })
    expect(proxy.requests()).toBeGreaterThanOrEqual(3)
    expect((await paymesh.invoices.list({ order_id: 'cut' }).page()).data).toEqual([invoice])
  })

  it('without retries the error hands out the key, under which the caller finds the one invoice', async () => {
    const paymesh = await newClient({ baseUrl: proxy.baseUrl, maxRetries: 0 })
    const input = { amount: '25.00', currency: 'USD', order_id: 'by-hand' } as const
    proxy.plan('lose_answer')
    const error = await paymesh.invoices.create(input).catch((failure: unknown) => failure)
    expect(error).toMatchObject({ name: 'PaymeshConnectionError', reason: 'network', status: null })
    const { idempotencyKey } = error as { idempotencyKey: string }
    const invoice = await paymesh.invoices.create(input, { idempotencyKey })
    expect((await paymesh.invoices.list({ order_id: 'by-hand' }).page()).data).toEqual([invoice])
  })
})
