import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { rateResource } from '#shared/contracts/http/rate-resource.ts'
import { ASSET_IDS } from '#shared/domain/enumerations.ts'
import { openApi, type TestApi } from '#test/support/api.ts'
import { useStores } from '#test/support/stores.ts'

const stores = useStores()
let api: TestApi

beforeAll(async () => {
  api = await openApi(stores)
})
afterAll(() => api.close())

async function list(query = '', key = api.testKey) {
  const { status, json } = await api.call('GET', `/rates${query}`, { key })
  expect([status, json.meta]).toEqual([200, { next_cursor: null, has_more: false }])
  return rateResource.array().parse(json.data)
}

async function refusal(query: string, key = api.testKey) {
  const { status, json } = await api.call('GET', `/rates${query}`, { key })
  expect(json.data).toBeNull()
  return [status, json.error.code, ...(json.error.details ?? []).map(({ path }: { path: string }) => path)]
}

describe('200', () => {
  it('prices every asset in US dollars by default, in the order of the specification', async () => {
    const rates = await list()
    expect(rates.map(({ asset }) => asset)).toEqual(ASSET_IDS)
    expect(rates.every(({ fiat, livemode }) => fiat === 'USD' && !livemode)).toBe(true)
    const [bitcoin] = rates
    expect(bitcoin).toMatchObject({ object: 'rate', symbol: 'BTC', network: 'bitcoin', fiat_per_asset: '100000' })
    expect(bitcoin?.sources).toBe(3)
    expect(Date.parse(bitcoin?.expires_at ?? '') - Date.parse(bitcoin?.updated_at ?? '')).toBe(120_000)
    expect((await list('', api.liveKey))[0]?.livemode).toBe(true)
  })

  it('takes a fiat and one asset', async () => {
    expect(await list('?fiat=EUR&asset=eth_base')).toMatchObject([
      { asset: 'eth_base', network: 'base', fiat: 'EUR', fiat_per_asset: '2000' },
    ])
  })

  // Money: what is due can be computed from the printed rate to the last unit.
  it("prints the workspace's spread with every digit, so that a lock's amount can be recomputed", async () => {
    const workspace = await api.newWorkspace()
    await api.updateWorkspace(workspace.id, { policy: { spreadBps: 37 } })
    const { apiKey } = await api.newKey('test', undefined, workspace.id)
    const [rate] = await list('?asset=ltc_litecoin&fiat=EUR', apiKey)
    expect(rate?.fiat_per_asset).toBe('49.815')
    const body = { amount: '123.45', currency: 'EUR', asset: 'ltc_litecoin' }
    const { crypto, rate: locked } = (await api.call('POST', '/invoices', { key: apiKey, body })).json.data
    expect(locked.fiat_per_asset).toBe('49.815')
    // 123.45 ÷ 49.815 = 2.478169226…, rounded up to 8 decimals.
    expect(crypto.amount).toBe('2.47816923')
  })

  it('leaves out an asset without a fresh rate, and is unavailable when it is the one asked for', async () => {
    api.engine.advance(2_000)
    const at = api.engine.deps.clock.now()
    const leg = (price: string, oldestAt: number) => ({ price, sources: ['a', 'b', 'c'], oldestAt })
    await api.engine.deps.rateSnapshots.insert({
      at,
      guards: {},
      expected: {},
      sources: {},
      clockOffsetMs: null,
      usdPerSymbol: { BTC: leg('90000', at), ETH: leg('3000', at - 120_000), USDT: leg('1', at - 119_000) },
      fiatPerUsd: { USD: leg('1', at), 'ARS:crypto': leg('1500', at), 'ARS:official': leg('1400', at) },
    })
    const rates = await list()
    expect(new Set(rates.map(({ symbol }) => symbol))).toEqual(new Set(['BTC', 'USDT']))
    expect(rates.find(({ symbol }) => symbol === 'USDT')?.updated_at).toBe(new Date(at - 119_000).toISOString())
    expect(await refusal('?asset=eth_arbitrum')).toEqual([503, 'RATES_UNAVAILABLE', 'asset'])
    expect(await refusal('?fiat=GBP')).toEqual([503, 'RATES_UNAVAILABLE', 'fiat'])
  })

  it('prices the Argentine peso by the series that the workspace chose', async () => {
    expect((await list('?fiat=ARS&asset=btc_bitcoin'))[0]?.fiat_per_asset).toBe('135000000')
    const workspace = await api.newWorkspace()
    await api.updateWorkspace(workspace.id, { policy: { arsSeries: 'official' } })
    const { apiKey } = await api.newKey('test', undefined, workspace.id)
    expect((await list('?fiat=ARS&asset=btc_bitcoin', apiKey))[0]?.fiat_per_asset).toBe('126000000')
  })
})

describe('400, 401, 403, 503', () => {
  it.each([
    ['?fiat=CHF', 'fiat'],
    ['?fiat=usd', 'fiat'],
    ['?fiat=', 'fiat'],
    ['?asset=shib_ethereum', 'asset'],
    ['?asset=USDT', 'asset'],
    ['?asset[$gt]=', 'asset[$gt]'],
    ['?asset=__proto__', 'asset'],
    ['?fiat=USD&fiat=EUR', 'fiat'],
    ['?limit=5', 'limit'],
    ['?cursor=x', 'cursor'],
    ['?currency=USD', 'currency'],
  ])('refuses %s and names the parameter', async (query, path) => {
    expect(await refusal(query)).toEqual([400, 'VALIDATION_ERROR', path])
  })

  it('needs a key and the scope', async () => {
    expect((await api.call('GET', '/rates', { key: null })).status).toBe(401)
    const { apiKey } = await api.newKey('test', ['invoices:read'])
    expect(await refusal('', apiKey)).toEqual([403, 'FORBIDDEN_SCOPE'])
  })

  it('is unavailable when no rate is fresh', async () => {
    api.engine.advance(120_000)
    expect(await refusal('')).toEqual([503, 'RATES_UNAVAILABLE', 'asset'])
  })
})
