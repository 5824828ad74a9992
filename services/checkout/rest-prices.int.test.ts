import { randomUUID } from 'node:crypto'
import { beforeEach, describe, expect, it } from 'vitest'
import { INVOICES } from '#shared/db/invoices/invoice-model.ts'
import { parseUnits } from '#shared/domain/money/money.ts'
import { applyInvoiceEvent } from '#shared/usecases/invoices/apply-invoice-event.ts'
import { createInvoice } from '#shared/usecases/invoices/create-invoice.ts'
import { recordBlockTransfers } from '#shared/usecases/payments/record-payments.ts'
import { blockWith } from '#test/support/engine.ts'
import { useStores } from '#test/support/stores.ts'
import type { CheckoutStage } from './checkout.fixture.ts'
import { sourceAt, useVisitors } from './visitors.fixture.ts'

const stores = useStores()
const visitors = useVisitors(stores)
const { choose } = visitors
let stage: CheckoutStage
beforeEach(() => {
  stage = visitors.stage()
})
const MINUTE = 60_000
let height = 1_000

/** Publishes prices of now, with ETH at this one, and no others: the clock of the test before was ahead. */
async function publishEth(price: string): Promise<void> {
  const snapshots = stores.db.connection.collection('rate_snapshots')
  await snapshots.deleteMany({})
  await stage.engine.publishRates()
  await snapshots.updateOne({}, { $set: { 'usdPerSymbol.ETH.price': price } })
  stage.engine.advance(1_500)
}

/** An invoice of 1,000.00 dollars that is open for a day; the payer picks the coin. */
async function openForADay(): Promise<string> {
  const body = { amount: '1000.00', minor: 100_000n, currency: 'USD' as const, expires_in: 86_400 }
  const about = { workspace: stage.engine.workspace, mode: 'test', body, source: 'api', idempotency: null } as const
  const made = await createInvoice(stage.deps, about)
  return made.outcome === 'created' ? made.terms.id : ''
}

const viewOf = async (id: string) => (await stage.get(`/api/i/${id}`)).body.view

async function pay(id: string, amount: string): Promise<void> {
  const { deps } = stage.engine
  const { address } = (await viewOf(id)).paymentMethod
  height += 1
  const transfer = {
    key: `test:ethereum:${height}`,
    asset: 'eth_ethereum',
    amountBase: parseUnits(amount, 18),
  } as const
  const to = { address, matchKey: address.slice(2).toLowerCase() }
  const block = blockWith(height, deps.clock.now(), to, [transfer])
  await recordBlockTransfers(deps, { mode: 'test', network: 'ethereum', blocks: [block], epoch: 1 })
  await applyInvoiceEvent(deps, { invoiceId: id, event: { type: 'payments_changed' }, opId: null })
}

const priced = async (id: string) =>
  (await stage.post(`/api/i/${id}/price`, { actionId: randomUUID() }, sourceAt(6))).body.view

describe('prices', () => {
  // Guarantee: a payer who waits for the coin to fall pays what the rest costs then, whatever was paid before.
  it('are not those of a deposit: the rest needs a new price once the first one has ended', async () => {
    await publishEth('4000')
    const id = await openForADay()
    expect((await choose(id, 'eth_ethereum', sourceAt(6))).body.view.paymentMethod.due).toBe('0.25')
    await pay(id, '0.0003')
    expect(await viewOf(id)).toMatchObject({
      status: 'partial',
      canRenew: true,
      paymentMethod: { remaining: '0.2497' },
    })
    stage.engine.advance(90 * MINUTE)
    await publishEth('3320')
    await pay(id, '0.2497')
    const refused = await viewOf(id)
    expect(refused).toMatchObject({ status: 'partial', received: '0.0003', canRenew: true })
    expect(refused.payments.at(-1)).toMatchObject({ amount: '0.2497', uncounted: 'out_of_quote' })
    // 99.88 % of 0.301205 ETH.
    const { paymentMethod, version } = await priced(id)
    expect(paymentMethod).toMatchObject({ remaining: '0.300844', due: '0.301144', fiatPerAsset: '3320' })
    expect(paymentMethod.uri).toContain(`value=${parseUnits('0.300844', 18)}`)
    expect((await priced(id)).version).toBe(version)
    const stored = await stores.db.collection(INVOICES).findOne({ _id: id })
    expect(stored?.paymentMethods[0]?.quotes[1]?.rest).toEqual({
      wholeBase: `${parseUnits('0.301205', 18)}`,
      restBase: `${parseUnits('0.300843554', 18)}`,
    })
    await pay(id, '0.300844')
    expect(await viewOf(id)).toMatchObject({ status: 'confirming', received: '0.301144' })
  })

  // Guarantee: nobody collects prices of a coin by switching networks.
  it('are one for a coin on all its networks', async () => {
    await publishEth('4000')
    const id = await openForADay()
    const from = sourceAt(7)
    const first = (await choose(id, 'eth_ethereum', from)).body.view.paymentMethod
    for (const [asset, market] of [
      ['eth_base', '4120'],
      ['eth_arbitrum', '3920'],
      ['eth_ethereum', '3000'],
    ] as const) {
      stage.engine.advance(MINUTE)
      await publishEth(market)
      const { paymentMethod } = (await choose(id, asset, from)).body.view
      const { due, fiatPerAsset, quotedAt, quoteEndsAt } = first
      expect(paymentMethod).toMatchObject({ asset, due, fiatPerAsset, quotedAt, quoteEndsAt })
    }
    // The last third is that of the price, whatever was chosen since.
    await choose(id, 'eth_base', from)
    const { version } = await viewOf(id)
    expect((await priced(id)).version).toBe(version)
    stage.engine.advance(12 * MINUTE)
    await publishEth('3200')
    const renewed = (await priced(id)).paymentMethod
    expect(renewed.fiatPerAsset).toBe('3200')
    stage.engine.advance(MINUTE)
    await publishEth('3600')
    const back = (await choose(id, 'eth_ethereum', from)).body.view.paymentMethod
    expect([back.fiatPerAsset, back.quoteEndsAt]).toEqual([renewed.fiatPerAsset, renewed.quoteEndsAt])
  })
})
