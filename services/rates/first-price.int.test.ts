import { expect, it } from 'vitest'
import { startExchangeSimulator } from '#dev/exchange-simulator/simulator.ts'
import { RATE_SNAPSHOTS } from '#shared/db/rates/rate-model.ts'
import { createHttpGet } from '#shared/runtime/http/http-get.ts'
import { openApi } from '#test/support/api.ts'
import { useStores } from '#test/support/stores.ts'
import { createJumpConfirmation } from './jump-confirmation.ts'
import { createRateCycle } from './rate-cycle.ts'
import { createRateSources } from './rate-sources.ts'

const stores = useStores()

// Money: there is nothing to compare a first price with, so one that cannot be a price makes no invoice, even if all sources agree on it.
it('an absurd first price from every source ends as 503 at the merchant, and takes no other currency with it', async () => {
  const api = await openApi(stores)
  const { clock, leases, rateSnapshots: rates } = api.engine.deps
  await stores.db.collection(RATE_SNAPSHOTS).deleteMany({})
  const simulator = await startExchangeSimulator({ port: 0, now: clock.now, seedPrices: { EUR: 1e20 } })
  const http = createHttpGet({ userAgent: 'Paymesh-Test/1.0' })
  const runtime = { ...stores.runtime, clock, http, rates, leases }
  const { sourceUrls } = simulator
  const cycle = createRateCycle({
    ...runtime,
    sources: createRateSources({ ...runtime, sourceUrls, timeoutMs: 20_000, pause: async () => undefined }),
    jumpConfirmation: createJumpConfirmation({ ...runtime, baseUrl: sourceUrls['coin-paprika'] }),
  })
  await cycle.run()
  const create = (body: object) => api.call('POST', '/invoices', { body: { amount: '25.00', ...body } })

  const refused = await create({ currency: 'EUR', asset: 'usdt_ethereum' })
  expect([refused.status, refused.headers.get('retry-after'), refused.json.error.code]).toEqual([
    ...[503, '60', 'RATES_UNAVAILABLE'],
  ])
  const message =
    'There is no current price of EUR: too few sources agree on it. No asset has a price in EUR until then.'
  expect(refused.json.error.details).toEqual([{ path: 'currency', message }])
  expect((await rates.latest())?.sources['kraken']?.dropped).toMatchObject({ 'EUR/USD': 'no_price' })
  expect((await create({ currency: 'EUR' })).status).toBe(201)
  expect((await create({ currency: 'USD', asset: 'usdt_ethereum' })).status).toBe(201)

  await cycle.stop()
  await simulator.stop()
  await http.close()
  await api.close()
})
