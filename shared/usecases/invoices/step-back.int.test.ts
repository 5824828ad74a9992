import { expect, it } from 'vitest'
import { recordBlockTransfers } from '#shared/usecases/payments/record-payments.ts'
import { blockWith, openEngine, paymentMethodOf } from '#test/support/engine.ts'
import { useStores } from '#test/support/stores.ts'
import { advanceInvoice } from './advance-invoice.ts'

const stores = useStores()
const CHAIN = { mode: 'test', network: 'ethereum', epoch: 1 } as const

// Guarantee: a payment that vanishes while its chain stands still ends no invoice: another one may wait in a block nobody has read.
it('waits for the scanner when an unconfirmed payment is replaced or dropped after the deadline', async () => {
  const engine = await openEngine(stores)
  const types = async (id: string) => (await engine.deps.invoices.findById(id))?.outbox.map((entry) => entry.type)
  for (const [gone, height] of [
    ['replaced', 60],
    ['dropped', 70],
  ] as const) {
    await engine.setCursor(height - 1, engine.deps.clock.now())
    await engine.publishRates()
    const invoice = await engine.open({ asset: 'usdt_ethereum' })
    const { id } = invoice.terms
    const { expiresAt } = invoice.state
    const transfer = { key: `gone-${gone}`, amountBase: 25_000_000n }
    const block = blockWith(height, expiresAt - 10_000, paymentMethodOf(invoice), [transfer])
    await recordBlockTransfers(engine.deps, { ...CHAIN, blocks: [block] })
    await advanceInvoice(engine.deps, id)
    await engine.setCursor(height, expiresAt - 10_000)
    engine.advance(engine.workspace.policy.quoteMs + 60_000)
    await stores.db.connection
      .collection('payments')
      .updateOne({ invoiceId: id }, { $set: { state: gone, dirtyAt: new Date() }, $inc: { version: 1 } })
    await advanceInvoice(engine.deps, id)
    expect((await types(id))?.slice(-2)).toEqual(['invoice.confirming', 'invoice.pending'])
    // The scanner passes the deadline: now nothing can be in time any more.
    await engine.setCursor(height + 1, expiresAt + 1)
    await advanceInvoice(engine.deps, id)
    expect((await types(id))?.slice(-2)).toEqual(['invoice.pending', 'invoice.expired'])
  }
})
