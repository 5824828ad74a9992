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

// Guarantee: a reorganisation between the look at the deadline and the decision expires no invoice whose payment is found in another block.
it('does not expire an invoice whose payment leaves its block while the deadline is being decided', async () => {
  const engine = await openEngine(stores)
  const { deps } = engine
  await engine.setCursor(79, deps.clock.now())
  await engine.publishRates()
  const invoice = await engine.open({ asset: 'usdt_ethereum' })
  const { id } = invoice.terms
  const { expiresAt } = invoice.state
  const transfer = { key: 'moved', amountBase: 5_000_000n }
  const block = blockWith(80, expiresAt - 10_000, paymentMethodOf(invoice), [transfer])
  await recordBlockTransfers(deps, { ...CHAIN, blocks: [block] })
  await advanceInvoice(deps, id)
  engine.advance(engine.workspace.policy.quoteMs + 60_000)
  await engine.setCursor(81, expiresAt + 10_000)
  const payments = stores.db.connection.collection('payments')
  const leaveBlock = async (): Promise<void> => {
    await payments.updateOne(
      { invoiceId: id },
      { $set: { state: 'orphaned', dirtyAt: new Date() }, $inc: { version: 1 } },
    )
    await engine.setCursor(79, expiresAt - 20_000)
  }
  let looks = 0
  const find: typeof deps.cursors.find = async (...of) => {
    const cursor = await deps.cursors.find(...of)
    looks += 1
    // The first look folds payments, the second is at the deadline: it is answered, and then the scanner goes back.
    if (looks === 2) await leaveBlock()
    return cursor
  }
  const cursors = { ...deps.cursors, find }
  await advanceInvoice({ ...deps, cursors }, id)
  await advanceInvoice(deps, id)
  expect(looks).toBeGreaterThan(2)
  const status = async () => (await deps.invoices.findById(id))?.state.status
  expect(await status()).toBe('pending')
  // The other branch has the payment, at a time before the deadline.
  await payments.updateOne(
    { invoiceId: id },
    { $set: { state: 'detected', dirtyAt: new Date() }, $inc: { version: 1 } },
  )
  await engine.setCursor(82, expiresAt + 10_000)
  await advanceInvoice(deps, id)
  const told = (await deps.invoices.findById(id))?.outbox
    .map(({ type }) => type)
    .filter((type) => type?.startsWith('invoice.'))
  expect(told).toEqual(['invoice.created', 'invoice.pending', 'invoice.partial', 'invoice.pending', 'invoice.partial'])
})
