import { afterAll, beforeAll, expect, it } from 'vitest'
import { createPaymesh, type Paymesh } from '#clients/typescript/src/main.ts'
import { openApi, type TestApi } from '#test/support/api.ts'
import { useStores } from '#test/support/stores.ts'

const stores = useStores()
let api: TestApi
let shop: Paymesh

beforeAll(async () => {
  api = await openApi(stores)
  await api.engine.watchEverything()
})
afterAll(() => api.close())
const fresh = async (): Promise<Paymesh> =>
  createPaymesh({ apiKey: (await api.newKey('test')).apiKey, baseUrl: api.baseUrl })
const terms = (order_id: string, more: object = {}) =>
  ({ amount: '25.00', currency: 'USD', order_id, ...more }) as const

// Guarantee: a customer who comes back is sent to a page that can be paid, and never to one of another price.
it('continues an invoice that lives, and opens the next attempt when it has ended', async () => {
  shop = await fresh()
  const first = await shop.invoices.ensure(terms('1001', { asset: 'usdt_ethereum' }))
  expect((await shop.invoices.ensure(terms('1001', { asset: 'usdt_ethereum', amount: '25' }))).id).toBe(first.id)
  await shop.invoices.simulate(first.id, 'expired')
  const second = await shop.invoices.ensure(terms('1001', { asset: 'usdt_ethereum' }))
  expect([second.id === first.id, second.status]).toEqual([false, 'pending'])
  await shop.invoices.simulate(second.id, 'paid')
  expect(await shop.invoices.ensure(terms('1001', { amount: '99.00' }))).toMatchObject({
    id: second.id,
    status: 'paid',
  })
})

it('replaces an invoice of another price or coin, unless money has come for it', async () => {
  shop = await fresh()
  const first = await shop.invoices.ensure(terms('1002'))
  const second = await shop.invoices.ensure(terms('1002', { amount: '30.00' }))
  expect([(await shop.invoices.get(first.id)).status, second.amount.value]).toEqual(['cancelled', '30.00'])
  const third = await shop.invoices.ensure(terms('1002', { amount: '30.00', asset: 'usdt_ethereum' }))
  expect([third.id === second.id, third.crypto?.asset]).toEqual([false, 'usdt_ethereum'])
  await shop.invoices.simulate(third.id, 'partial')
  expect((await shop.invoices.ensure(terms('1002', { amount: '35.00' }))).id).toBe(third.id)
})

it('gives clicks at the same time one invoice, also with two baskets', async () => {
  const shops = await Promise.all([fresh(), fresh(), fresh(), fresh()])
  const alike = await Promise.all(shops.map((one) => one.invoices.ensure(terms('1003 ü'))))
  expect(new Set(alike.map(({ id }) => id)).size).toBe(1)
  await Promise.all(shops.map((one, index) => one.invoices.ensure(terms('1004', { amount: index % 2 ? '10' : '20' }))))
  const living: string[] = []
  for await (const invoice of (await fresh()).invoices.list({ order_id: '1004' }))
    if (invoice.status === 'new') living.push(invoice.amount.value)
  expect(living).toHaveLength(1)
})

it('needs an order', async () => {
  await expect((await fresh()).invoices.ensure(terms(''))).rejects.toThrow('order_id')
})
