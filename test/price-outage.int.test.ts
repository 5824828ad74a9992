import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  type ExchangeSimulator,
  type SimulatedSource,
  startExchangeSimulator,
} from '#dev/exchange-simulator/simulator.ts'
import { createJumpConfirmation } from '#services/rates/jump-confirmation.ts'
import { createRateCycle, type RateCycle } from '#services/rates/rate-cycle.ts'
import { createRateSources } from '#services/rates/rate-sources.ts'
import { createLeaseRepository } from '#shared/db/installation/lease-repository.ts'
import { createHttpGet, type HttpGet } from '#shared/runtime/http/http-get.ts'
import { openApi, type TestApi } from './support/api.ts'
import { useStores } from './support/stores.ts'

const stores = useStores()
const INVOICE = { amount: '25.00', currency: 'EUR' }
const WITH_ASSET = { ...INVOICE, asset: 'btc_bitcoin' }
let api: TestApi
let simulator: ExchangeSimulator
let http: HttpGet
let cycle: RateCycle

beforeAll(async () => {
  // Time passes only where a test says so: a price is good for two minutes, which no machine may use up.
  const startedAt = stores.runtime.clock.now()
  const runtime = { ...stores.runtime, clock: { ...stores.runtime.clock, now: () => startedAt } }
  api = await openApi({ ...stores, runtime })
  const { clock, rateSnapshots } = api.engine.deps
  simulator = await startExchangeSimulator({ port: 0, now: clock.now })
  http = createHttpGet({ userAgent: 'Paymesh-Test/1.0' })
  const parts = { ...runtime, clock, rates: rateSnapshots, leases: createLeaseRepository(stores.db) }
  cycle = createRateCycle({
    ...parts,
    sources: createRateSources({
      ...parts,
      http,
      sourceUrls: simulator.sourceUrls,
      timeoutMs: 20_000,
      pause: async () => undefined,
    }),
    jumpConfirmation: createJumpConfirmation({ ...parts, http, baseUrl: simulator.sourceUrls['coin-paprika'] }),
  })
})
afterAll(async () => {
  await cycle.stop()
  await http.close()
  await simulator.stop()
  await api.close()
})

/** Fifteen seconds later, a cycle on: what the rates process does all day. */
async function nextCycle(): Promise<void> {
  api.engine.advance(15_000)
  await cycle.run()
}

/** Status and error code of everything that needs a price, and of a create that does not. */
async function answers(): Promise<Record<string, unknown>> {
  const key = (await api.newKey('test')).apiKey
  const outcome = async (method: string, path: string, body?: object) => {
    const { status, json } = await api.call(method, path, { key, ...(body !== undefined && { body }) })
    return json.error === null ? status : `${status} ${json.error.code}`
  }
  return {
    rates: await outcome('GET', '/rates?fiat=EUR'),
    estimate: await outcome('POST', '/estimate', WITH_ASSET),
    createWithAsset: await outcome('POST', '/invoices', WITH_ASSET),
    createWithout: await outcome('POST', '/invoices', INVOICE),
  }
}

const bitcoinInUsd = async () => Number((await api.call('GET', '/rates?asset=btc_bitcoin')).json.data[0].fiat_per_asset)
const HEALTHY = { rates: 200, estimate: 200, createWithAsset: 201, createWithout: 201 }

describe('prices from the sources to the interface', () => {
  it('every price of the interface comes from the sources', async () => {
    await nextCycle()
    expect(await answers()).toEqual(HEALTHY)
    expect(Math.abs((await bitcoinInUsd()) / 71_250 - 1)).toBeLessThan(0.005)
  })

  // Money: one source that is off by a digit changes nothing.
  it('one source at ten times the price does not move it', async () => {
    simulator.misbehave('kraken', 'ten_times')
    for (let round = 0; round < 4; round += 1) await nextCycle()
    expect(Math.abs((await bitcoinInUsd()) / 71_250 - 1)).toBeLessThan(0.005)
    const { json } = await api.call('GET', '/rates?asset=btc_bitcoin')
    expect(json.data[0].sources).toBe(5)
    simulator.heal()
  })

  // Money: without a fresh price nothing is promised, and what needs no price goes on.
  it('with every source down for longer than the bound there is no price, and one again after a single cycle', async () => {
    await nextCycle()
    for (const source of Object.keys(simulator.sourceUrls) as SimulatedSource[]) simulator.misbehave(source, 'html')
    const failedFrom = api.engine.deps.clock.now()
    for (let seconds = 15; seconds <= 105; seconds += 15) await nextCycle()
    expect(await answers()).toEqual(HEALTHY)
    // While prices are still good, an operator reads who fails and since when.
    const failing = await api.engine.deps.rateSnapshots.failing()
    expect(failing.length).toBeGreaterThan(7)
    for (const { reason, since } of failing) {
      expect(reason).toMatch(/^[a-z_]+$/)
      expect(since).toBeGreaterThan(failedFrom)
      expect(since).toBeLessThanOrEqual(failedFrom + 105_000)
    }
    await nextCycle()
    expect(await answers()).toEqual({
      rates: '503 RATES_UNAVAILABLE',
      estimate: '503 RATES_UNAVAILABLE',
      createWithAsset: '503 RATES_UNAVAILABLE',
      createWithout: 201,
    })
    const currencies = (await api.call('GET', '/currencies')).json.data
    const reasons = currencies.map((currency: { unavailable_reason: string }) => currency.unavailable_reason)
    expect(new Set(reasons)).toEqual(new Set(['rates_unavailable']))

    simulator.heal()
    // The longest pause that failing sources got by now.
    api.engine.advance(5 * 60_000)
    await nextCycle()
    expect(await answers()).toEqual(HEALTHY)
  })
})

describe('what an answer without a price says', () => {
  const refusal = async (path: string, body?: object) => {
    const { status, headers, json } = await api.call(
      body === undefined ? 'GET' : 'POST',
      path,
      body === undefined ? {} : { body },
    )
    expect([status, json.error?.code]).toEqual([503, 'RATES_UNAVAILABLE'])
    return { retryAfter: headers.get('retry-after'), details: json.error.details }
  }
  const pesos = { amount: '1000.00', currency: 'DOP' }

  it('names the currency, and advises no invoice without an asset in it', async () => {
    for (const source of ['coinbase-fx', 'yadio'] as const) simulator.misbehave(source, 'missing_pair', 'DOP')
    api.engine.advance(60_000)
    await nextCycle()
    const message =
      'There is no current price of DOP: too few sources agree on it. No asset has a price in DOP until then.'
    const expected = { retryAfter: '60', details: [{ path: 'currency', message }] }
    expect(await refusal('/invoices', { ...pesos, asset: 'btc_bitcoin' })).toEqual(expected)
    expect(await refusal('/estimate', { ...pesos, asset: 'btc_bitcoin' })).toEqual(expected)
    expect(await refusal('/rates?fiat=DOP')).toEqual({ retryAfter: '60', details: [{ path: 'fiat', message }] })
    simulator.heal()
  })

  it('names a peg, and advises an invoice without an asset where another one can be priced', async () => {
    simulator.setPrice('USDT', 0.93)
    api.engine.advance(60_000)
    await nextCycle()
    const { retryAfter, details } = await refusal('/invoices', { ...INVOICE, asset: 'usdt_ethereum' })
    expect(retryAfter).toBe('600')
    expect(details).toEqual([
      {
        path: 'asset',
        message:
          'USDT is off its peg of one dollar, or was within the last ten minutes. Other assets have a price: without `asset`, the payer can choose one of them.',
      },
    ])
    simulator.setPrice('USDT', 0.9997)
  })

  it('names the coin whose sources are gone, and no other', async () => {
    for (const source of ['kraken', 'bitstamp', 'bitfinex'] as const) simulator.misbehave(source, 'missing_pair', 'TRX')
    await nextCycle()
    expect((await refusal('/rates?asset=trx_tron')).details).toMatchObject([
      { path: 'asset', message: 'There is no current price of TRX: too few sources agree on it.' },
    ])
    expect((await api.call('GET', '/rates')).status).toBe(200)
    simulator.heal()
  })
})
