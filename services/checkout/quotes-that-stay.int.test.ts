import { randomUUID } from 'node:crypto'
import { beforeEach, describe, expect, it } from 'vitest'
import { INVOICES } from '#shared/db/invoices/invoice-model.ts'
import { applyInvoiceEvent } from '#shared/usecases/invoices/apply-invoice-event.ts'
import { createInvoice } from '#shared/usecases/invoices/create-invoice.ts'
import { recordBlockTransfers } from '#shared/usecases/payments/record-payments.ts'
import { blockWith } from '#test/support/engine.ts'
import { useStores } from '#test/support/stores.ts'
import type { CheckoutStage } from './checkout.fixture.ts'
import { sourceAt, useVisitors } from './visitors.fixture.ts'

const stores = useStores()
const visitors = useVisitors(stores)
const { addPool, choose, openByApi } = visitors
let stage: CheckoutStage
beforeEach(() => {
  stage = visitors.stage()
})
const MINUTE = 60_000
const invoices = () => stores.db.collection(INVOICES)

let height = 100

describe('quotes', () => {
  // Guarantee: no rate shopping. Whatever is chosen in between, a price that was promised is shown as it was.
  it('stay: BTC → ETH → BTC shows the same address, the same amount and the same end', async () => {
    const invoice = await openByApi()
    const path = `/api/i/${invoice.terms.id}`
    const from = sourceAt(3)
    const first = (await choose(invoice.terms.id, 'btc_bitcoin', from)).body.view.paymentMethod
    stage.engine.advance(4 * 60_000)
    await stage.engine.publishRates()
    const other = (await choose(invoice.terms.id, 'eth_ethereum', from)).body.view
    stage.engine.advance(4 * 60_000)
    // The coin is worth half of what it was: what was promised stays.
    await publishAt({ BTC: '50000' })
    const again = (await choose(invoice.terms.id, 'btc_bitcoin', from)).body.view
    expect(again.paymentMethod).toEqual(first)
    expect(again.expiresAt).toBe(other.expiresAt)
    expect((await invoices().findOne({ _id: invoice.terms.id }))?.paymentMethods).toHaveLength(2)
    // Clicking on what is shown already changes nothing and costs nothing, also in the last third.
    stage.engine.advance(10 * 60_000)
    await publishAt({ BTC: '50000' })
    const shown = await choose(invoice.terms.id, 'btc_bitcoin', from)
    expect(shown.body.view.version).toBe(again.version)
    // Over, it is made at the rate of now, on the same address.
    stage.engine.advance(3 * 60_000)
    await publishAt({ BTC: '50000' })
    const fresh = (await choose(invoice.terms.id, 'btc_bitcoin', from)).body.view.paymentMethod
    expect(fresh.address).toBe(first.address)
    expect(Number(fresh.due)).toBeCloseTo(Number(first.due) * 2, 6)
    expect((await stage.get(path)).body.view.paymentMethod).toEqual(fresh)
  })

  it('over while another coin is shown: choosing it again prices the same lock again, and five distinct coins are the limit', async () => {
    const invoice = await openByApi()
    const from = sourceAt(4)
    await choose(invoice.terms.id, 'btc_bitcoin', from)
    stage.engine.advance(15 * 60_000)
    await stage.engine.publishRates()
    await choose(invoice.terms.id, 'ltc_litecoin', from)
    stage.engine.advance(6 * 60_000)
    await stage.engine.publishRates()
    expect((await choose(invoice.terms.id, 'btc_bitcoin', from)).status).toBe(200)
    const stored = await invoices().findOne({ _id: invoice.terms.id })
    expect(stored?.paymentMethods.map(({ asset, quotes }) => [asset, quotes.length])).toEqual([
      ['btc_bitcoin', 2],
      ['ltc_litecoin', 1],
    ])
    for (const asset of ['doge_dogecoin', 'usdt_tron', 'eth_ethereum'] as const)
      await choose(invoice.terms.id, asset, from)
    const sixth = await choose(invoice.terms.id, 'usdt_ethereum', from)
    expect([sixth.status, sixth.body.error.code]).toEqual([409, 'INVALID_STATE'])
    // Those that were chosen before can still be chosen.
    expect((await choose(invoice.terms.id, 'ltc_litecoin', from)).body.view.paymentMethod.asset).toBe('ltc_litecoin')
  })

  // Guarantee: money goes to the payment method whose address and asset it names, also after switching back and forth.
  it('are paid in the coin that arrives first, on the one address', async () => {
    await addPool(3)
    const invoice = await openByApi()
    const from = sourceAt(5)
    const usdt = (await choose(invoice.terms.id, 'usdt_ethereum', from)).body.view.paymentMethod
    stage.engine.advance(5 * 60_000)
    await stage.engine.publishRates()
    const usdc = (await choose(invoice.terms.id, 'usdc_ethereum', from)).body.view.paymentMethod
    expect(usdc.address).toBe(usdt.address)
    // Sent before the switch, from another tab: older than the active lock by more than block times lag.
    const { deps } = stage.engine
    const row = { address: usdt.address, matchKey: usdt.address.slice(2).toLowerCase() }
    height += 1
    const time = deps.clock.now() - 4 * 60_000
    const block = blockWith(height, time, row, [{ key: `test:ethereum:${height}`, amountBase: 25_000_000n }])
    await recordBlockTransfers(deps, { mode: 'test', network: 'ethereum', blocks: [block], epoch: 1 })
    await applyInvoiceEvent(deps, { invoiceId: invoice.terms.id, event: { type: 'payments_changed' }, opId: null })
    const { view } = (await stage.get(`/api/i/${invoice.terms.id}`)).body
    expect([view.status, view.paymentMethod.asset]).toEqual(['confirming', 'usdt_ethereum'])
    expect((await choose(invoice.terms.id, 'usdc_ethereum', from)).status).toBe(409)
  })
})

describe('a new price', () => {
  const priced = async (id: string) => {
    const { body } = await stage.post(`/api/i/${id}/price`, { actionId: randomUUID() }, sourceAt(6))
    return body.view
  }

  it('is given from two thirds of the time on, and not before', async () => {
    const invoice = await stage.engine.open({ asset: 'usdt_ethereum' })
    const { id } = invoice.terms
    stage.engine.advance(13 * MINUTE)
    await stage.engine.publishRates()
    expect((await priced(id)).version).toBe(invoice.state.version)
    stage.engine.advance(MINUTE / 2)
    await stage.engine.publishRates()
    expect((await priced(id)).version).toBe(invoice.state.version + 1)
  })

  it('is given after it too, on the same address, while the invoice is open', async () => {
    const { deps, engine } = stage
    const day = { amount: '7.00', minor: 700n, currency: 'USD' as const, description: 'x', expires_in: 86_400 }
    const about = { workspace: engine.workspace, mode: 'test', body: day, source: 'api', idempotency: null } as const
    const made = await createInvoice(deps, about)
    const id = made.outcome === 'created' ? made.terms.id : ''
    const first = (await choose(id, 'usdt_ethereum', sourceAt(6))).body.view
    stage.engine.advance(25 * MINUTE)
    await stage.engine.publishRates()
    const next = await priced(id)
    expect(next.expiresAt).toBe(first.expiresAt)
    expect(next.paymentMethod.address).toBe(first.paymentMethod.address)
    expect(next.paymentMethod.quoteEndsAt).toBeGreaterThan(first.paymentMethod.quoteEndsAt + 24 * MINUTE)
  })
})

async function publishAt(change: Readonly<Record<string, string>>): Promise<void> {
  await stage.engine.publishRates()
  const snapshots = stores.db.connection.collection('rate_snapshots')
  const newest = await snapshots.find().sort({ _id: -1 }).limit(1).next()
  if (newest === null) throw new Error('no rates')
  const set = Object.entries(change).map(([symbol, price]) => [`usdPerSymbol.${symbol}.price`, price])
  await snapshots.updateOne({ _id: newest._id }, { $set: Object.fromEntries(set) })
  stage.engine.advance(1_500)
}
