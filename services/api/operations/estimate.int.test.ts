import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { estimateResource } from '#shared/contracts/http/estimate.ts'
import { INVOICES } from '#shared/db/invoices/invoice-model.ts'
import { KEY_MATERIAL } from '#shared/db/wallets/wallet-models.ts'
import { openApi, type TestApi } from '#test/support/api.ts'
import { useStores } from '#test/support/stores.ts'

const stores = useStores()
let api: TestApi
const BODY = { amount: '25.00', currency: 'USD', asset: 'usdt_ethereum' }

beforeAll(async () => {
  api = await openApi(stores)
})
afterAll(() => api.close())

const request = (body: unknown, key = api.testKey, headers: Record<string, string> = {}) =>
  api.call('POST', '/estimate', { body, key, headers })

describe('200', () => {
  it('converts at the current rate and prints every field', async () => {
    const { status, json } = await request({ amount: '25.1', currency: 'EUR', asset: 'eth_arbitrum' })
    expect(status).toBe(200)
    expect(json).toEqual({ data: estimateResource.parse(json.data), error: null, request_id: expect.any(String) })
    expect(json.data).toMatchObject({
      object: 'estimate',
      livemode: false,
      asset: 'eth_arbitrum',
      network: 'arbitrum',
      symbol: 'ETH',
      fiat: { value: '25.10', currency: 'EUR', minor: 2510 },
      amount: '0.01255',
      amount_base_units: '12550000000000000',
      decimals: 18,
      fiat_per_asset: '2000',
      min_amount: '0.00005',
    })
  })

  // Money: an estimate asks for exactly what a payment method made at the same rate asks for.
  it.each([
    ['33.33', 'USD', 'btc_bitcoin'],
    ['0.99', 'EUR', 'usdc_solana'],
    ['19.99', 'USD', 'trx_tron'],
    ['123456.78', 'EUR', 'usdt_bsc'],
    ['7.77', 'USD', 'doge_dogecoin'],
  ])('%s %s in %s is what an invoice asks for', async (amount, currency, asset) => {
    const workspace = await api.newWorkspace()
    await api.updateWorkspace(workspace.id, { policy: { spreadBps: 123 } })
    const { apiKey } = await api.newKey('test', undefined, workspace.id)
    const body = { amount, currency, asset }
    const estimate = (await request(body, apiKey)).json.data
    const { crypto, rate } = (await api.call('POST', '/invoices', { key: apiKey, body })).json.data
    expect([estimate.amount, estimate.amount_base_units, estimate.decimals, estimate.fiat_per_asset]).toEqual([
      crypto.amount,
      crypto.amount_base_units,
      crypto.decimals,
      rate.fiat_per_asset,
    ])
  })

  it('needs no wallet, no minimum and no unrestricted workspace', async () => {
    const { json: live } = await request(BODY, api.liveKey)
    expect(live.data).toMatchObject({ livemode: true, amount: '25' })
    const { json: tiny } = await request({ ...BODY, amount: '0.01' })
    expect(tiny.data).toMatchObject({ amount: '0.01', min_amount: '0.5' })
    const workspace = await api.newWorkspace()
    await api.updateWorkspace(workspace.id, { status: 'restricted' })
    expect((await request(BODY, (await api.newKey('test', undefined, workspace.id)).apiKey)).status).toBe(200)
  })

  it('locks nothing: no invoice, no address', async () => {
    const state = async () => [
      await stores.db.collection(INVOICES).countDocuments(),
      await stores.db.collection(KEY_MATERIAL).find().sort({ _id: 1 }).toArray(),
    ]
    const before = await state()
    await request(BODY)
    expect(await state()).toEqual(before)
  })
})

describe('idempotency', () => {
  it('replays the same bytes although the rate moved, and refuses another body', async () => {
    const headers = { 'idempotency-key': 'estimate' }
    const first = await request(BODY, api.testKey, headers)
    api.engine.advance(30_000)
    await api.engine.publishRates()
    const again = await request(BODY, api.testKey, headers)
    expect([again.status, again.text, again.headers.get('idempotent-replayed')]).toEqual([200, first.text, 'true'])
    expect((await request(BODY)).json.data.rate_updated_at).not.toBe(first.json.data.rate_updated_at)
    const other = await request({ ...BODY, amount: '26' }, api.testKey, headers)
    expect([other.status, other.json.error.code]).toEqual([409, 'IDEMPOTENCY_MISMATCH'])
  })
})

describe('400, 401, 403, 503', () => {
  const faults: readonly (readonly [string, unknown, readonly string[]])[] = [
    ['nothing', {}, ['amount', 'currency', 'asset']],
    ['an unknown asset', { ...BODY, asset: 'shib_ethereum' }, ['asset']],
    ['a malformed asset', { ...BODY, asset: 'USDT' }, ['asset']],
    ['an operator as asset', { ...BODY, asset: { $gt: '' } }, ['asset']],
    ['an unknown currency', { ...BODY, currency: 'CHF' }, ['currency']],
    ['a number as amount', { ...BODY, amount: 25 }, ['amount']],
    ['zero', { ...BODY, amount: '0' }, ['amount']],
    ['an exponent', { ...BODY, amount: '1e3' }, ['amount']],
    ['decimals of a currency without them', { ...BODY, amount: '1.5', currency: 'CLP' }, ['amount']],
    ['thirteen integer digits', { ...BODY, amount: '1000000000000' }, ['amount']],
    ['an unknown field', { ...BODY, network: 'ethereum' }, ['network']],
    ['a prototype', '{"amount":"1","currency":"USD","asset":"eth_base","__proto__":{}}', ['__proto__']],
    ['a list', [BODY], ['']],
    ['no JSON', '{', ['']],
    ['no body', '', ['']],
  ]
  it.each(faults)('refuses %s and names the field', async (_name, body, paths) => {
    const { status, json } = await request(body, (await api.newKey('test')).apiKey)
    expect([status, json.error.code]).toEqual([400, 'VALIDATION_ERROR'])
    expect(json.error.details.map(({ path }: { path: string }) => path)).toEqual(paths)
  })

  it('takes no query', async () => {
    const { status, json } = await api.call('POST', '/estimate?asset=eth_base', { body: BODY })
    expect([status, json.error.details[0].path]).toEqual([400, 'asset'])
  })

  it('needs a key and the scope', async () => {
    expect((await api.call('POST', '/estimate', { key: null, body: BODY })).status).toBe(401)
    const { apiKey } = await api.newKey('test', ['invoices:write'])
    expect((await request(BODY, apiKey)).json.error.code).toBe('FORBIDDEN_SCOPE')
  })

  it('is unavailable without a fresh rate, and does not keep that answer under its key', async () => {
    const headers = { 'idempotency-key': 'no-rate' }
    api.engine.advance(120_000)
    const down = await request(BODY, api.testKey, headers)
    expect([down.status, down.json.error.code]).toEqual([503, 'RATES_UNAVAILABLE'])
    api.engine.advance(2_000)
    await api.engine.publishRates()
    expect((await request(BODY, api.testKey, headers)).status).toBe(200)
  })
})
