import { beforeAll, describe, expect, it } from 'vitest'
import { INVOICES } from '#shared/db/invoices/invoice-model.ts'
import { PAYMENTS } from '#shared/db/payments/payment-model.ts'
import { confirmPayments, orphanPayments, recordBlockTransfers } from '#shared/usecases/payments/record-payments.ts'
import { blockWith, type Engine, openEngine, paymentMethodOf } from '#test/support/engine.ts'
import { useStores } from '#test/support/stores.ts'
import { advanceInvoice, overdueInvoices } from './advance-invoice.ts'
import { applyInvoiceEvent } from './apply-invoice-event.ts'
import { cancelInvoice } from './cancel-invoice.ts'
import { quoteAsset } from './quote-asset.ts'

const stores = useStores()
const CHAIN = { mode: 'test', network: 'ethereum', epoch: 1 } as const
const CHANGED = { type: 'payments_changed' } as const
let engine: Engine

beforeAll(async () => {
  engine = await openEngine(stores)
})

const types = async (id: string) => (await engine.deps.invoices.findById(id))?.outbox.map((entry) => entry.type)
const stateOf = async (id: string) => (await engine.deps.invoices.findById(id))?.state

describe('applyInvoiceEvent', () => {
  // Guarantee: any number of workers at once count a payment once and announce it once.
  it('counts a payment once however many apply it at the same time', async () => {
    const invoice = await engine.open({ asset: 'usdt_ethereum' })
    const paymentMethod = paymentMethodOf(invoice)
    const now = engine.deps.clock.now()
    const block = blockWith(10, now, paymentMethod, [{ key: 'race', amountBase: 25_000_000n }])
    await recordBlockTransfers(engine.deps, { ...CHAIN, blocks: [block] })
    const { id } = invoice.terms

    const results = await Promise.all(
      Array.from({ length: 20 }, () => applyInvoiceEvent(engine.deps, { invoiceId: id, event: CHANGED, opId: null })),
    )

    expect(results.filter((result) => result.outcome === 'changed')).toHaveLength(1)
    expect(await types(id)).toEqual(['invoice.created', 'invoice.pending', 'payment.detected', 'invoice.confirming'])
    const state = await stateOf(id)
    expect(state?.ledger.map((row) => row.amountBase)).toEqual([25_000_000n])
    const [payment] = await engine.deps.payments.listByInvoice(id)
    expect(payment).toMatchObject({ counted: true, uncountedReason: null, dirtyAt: null })
  })

  it('confirms, pays and stays silent when everything is applied again', async () => {
    const invoice = await engine.open({ asset: 'usdt_ethereum' })
    const { id } = invoice.terms
    const block = blockWith(20, engine.deps.clock.now(), paymentMethodOf(invoice), [
      { key: 'full', amountBase: 25_000_000n },
    ])
    await recordBlockTransfers(engine.deps, { ...CHAIN, blocks: [block] })
    await confirmPayments(engine.deps, { ...CHAIN, height: 22, finalizedHeight: null })
    await advanceInvoice(engine.deps, id)
    await recordBlockTransfers(engine.deps, { ...CHAIN, blocks: [block] })
    await advanceInvoice(engine.deps, id)

    expect(await types(id)).toEqual([
      'invoice.created',
      'invoice.pending',
      'payment.detected',
      'payment.confirmed',
      'invoice.paid',
    ])
    const stored = await engine.deps.invoices.findById(id)
    expect(stored?.outbox.map((entry) => entry.seq)).toEqual([1, 2, 3, 4, 5])
    expect(stored?.outbox[3]?.payment).toMatchObject({ status: 'confirmed', counted: true, confirmations: 3 })
    expect(stored?.outbox[0]?.payment).toBeNull()
  })

  // Guards money: receivers drop an id that they know. Under that of an event of the lost time, the invoice would be paid and the shop never told.
  it('gives the events of a store that was put back no ids that receivers know', async () => {
    const invoice = await engine.open({ asset: 'usdt_ethereum' })
    const { id } = invoice.terms
    const collections = [INVOICES, PAYMENTS].map(({ name }) => stores.db.connection.collection<{ _id: string }>(name))
    const before = await collections[0]?.findOne({ _id: id })
    const block = blockWith(25, engine.deps.clock.now(), paymentMethodOf(invoice), [
      { key: 'put-back', amountBase: 25_000_000n },
    ])
    const told = async () =>
      new Map((await engine.deps.invoices.findById(id))?.outbox.map((one) => [one.eventId, one.type]))
    await recordBlockTransfers(engine.deps, { ...CHAIN, blocks: [block] })
    await advanceInvoice(engine.deps, id)
    await confirmPayments(engine.deps, { ...CHAIN, height: 27, finalizedHeight: null })
    await advanceInvoice(engine.deps, id)
    const lost = await told()
    if (before) await collections[0]?.replaceOne({ _id: id }, before)
    await collections[1]?.deleteMany({ invoiceId: id })

    await recordBlockTransfers(engine.deps, { ...CHAIN, blocks: [block] })
    await confirmPayments(engine.deps, { ...CHAIN, height: 27, finalizedHeight: null })
    await advanceInvoice(engine.deps, id)

    const again = await told()
    expect([...again.values()]).toEqual([
      'invoice.created',
      'invoice.pending',
      'payment.detected',
      'payment.confirmed',
      'invoice.paid',
    ])
    expect([...again].filter(([eventId]) => lost.has(eventId)).map(([, type]) => type)).toEqual([
      'invoice.created',
      'invoice.pending',
    ])
  })

  it('steps back when the payment leaves the chain', async () => {
    const invoice = await engine.open({ asset: 'usdt_ethereum' })
    const { id } = invoice.terms
    const block = blockWith(30, engine.deps.clock.now(), paymentMethodOf(invoice), [
      { key: 'gone', amountBase: 25_000_000n },
    ])
    await recordBlockTransfers(engine.deps, { ...CHAIN, blocks: [block] })
    await advanceInvoice(engine.deps, id)
    await orphanPayments(engine.deps, { ...CHAIN, forkHeight: 29 })
    await advanceInvoice(engine.deps, id)
    expect((await stateOf(id))?.status).toBe('pending')
    expect((await types(id))?.at(-1)).toBe('invoice.pending')
  })

  it('answers from the present state when the operation was applied before', async () => {
    const invoice = await engine.open()
    const scope = { workspaceId: engine.workspace.id, mode: 'test', invoiceId: invoice.terms.id } as const
    const first = await cancelInvoice(engine.deps, { ...scope, opId: 'op-1' })
    const again = await cancelInvoice(engine.deps, { ...scope, opId: 'op-1' })
    expect(first.state.status).toBe('cancelled')
    expect(again.state.version).toBe(first.state.version)
    await expect(cancelInvoice(engine.deps, { ...scope, opId: 'op-2' })).rejects.toMatchObject({
      code: 'INVALID_STATE',
    })
  })

  // Guarantee: an invoice with money on the way is never cancelled, even if no worker has seen the money yet.
  it('folds stored payments before it cancels', async () => {
    const invoice = await engine.open({ asset: 'usdt_ethereum' })
    const block = blockWith(40, engine.deps.clock.now(), paymentMethodOf(invoice), [
      { key: 'early', amountBase: 1_000_000n },
    ])
    await recordBlockTransfers(engine.deps, { ...CHAIN, blocks: [block] })
    const cancel = { workspaceId: engine.workspace.id, mode: 'test', invoiceId: invoice.terms.id, opId: 'c' } as const
    await expect(cancelInvoice(engine.deps, cancel)).rejects.toMatchObject({ code: 'INVALID_STATE' })
  })

  it('reports unknown and foreign invoices alike', async () => {
    const invoice = await engine.open()
    const request = { mode: 'test', opId: 'x' } as const
    const workspaceId = engine.workspace.id
    for (const wrong of [
      { ...request, workspaceId: 'other', invoiceId: invoice.terms.id },
      { ...request, workspaceId, invoiceId: engine.deps.random.uuid() },
      { ...request, workspaceId, mode: 'live' as const, invoiceId: invoice.terms.id },
    ]) {
      await expect(cancelInvoice(engine.deps, wrong)).rejects.toMatchObject({ code: 'NOT_FOUND' })
    }
  })
})

describe('quoteAsset', () => {
  // Guarantee: two invoices never share an address, even when two processes offer the same candidate.
  it('takes the next candidate when another invoice holds the claim', async () => {
    const holder = await engine.open({ asset: 'usdt_ethereum' })
    const invoice = await engine.open()
    const taken = paymentMethodOf(holder)
    const { paymentMethods } = engine.deps
    const colliding = {
      ...paymentMethods,
      prepare: async (request: Parameters<typeof paymentMethods.prepare>[0]) => {
        const fresh = await paymentMethods.prepare(request)
        const { address, matchKey, claim } = taken
        return {
          ...fresh,
          paymentMethod: { ...fresh.paymentMethod, address, matchKey, claim },
          next: () => Promise.resolve(fresh),
        }
      },
    }
    const locked = await quoteAsset(
      { ...engine.deps, paymentMethods: colliding },
      { invoiceId: invoice.terms.id, asset: 'usdc_ethereum', opId: null },
    )
    expect(paymentMethodOf(locked).matchKey).not.toBe(taken.matchKey)
    expect(locked.state.status).toBe('pending')
    expect(locked.state.expiresAt).toBe(paymentMethodOf(locked).quotes[0]?.expiresAt)
  })

  it('freezes amount, confirmations and bounds', async () => {
    const invoice = await engine.open({ asset: 'eth_ethereum' })
    const paymentMethod = paymentMethodOf(invoice)
    expect(paymentMethod).toMatchObject({ requiredConfirmations: 3, claim: `test:evm:${paymentMethod.matchKey}` })
    expect(paymentMethod.quotes[0]).toMatchObject({ amountBase: 6_250_000_000_000_000n, fiatPerAsset: '4000' })
    const { toleranceBase, sendableBase, unitBase } = paymentMethod.policy
    // No tolerance of the merchant: only a rest of less than 0.00001 ETH, which costs more than it is worth, counts as paid.
    expect({ toleranceBase, sendableBase, unitBase }).toEqual({
      toleranceBase: 10n ** 13n - 1n,
      sendableBase: 10n ** 13n,
      unitBase: 10n ** 12n,
    })
  })

  it('refuses live assets without a node and amounts below the minimum', async () => {
    const { workspace, deps } = engine
    const at = deps.clock.now()
    const request = { workspace, asset: 'usdt_ethereum', at, quoteEndsAt: at + 1 } as const
    const fiat = { minor: 1n, currency: 'USD' } as const
    await expect(deps.paymentMethods.prepare({ ...request, mode: 'live', fiat })).rejects.toMatchObject({
      code: 'NO_WALLET_FOR_ASSET',
    })
    await expect(deps.paymentMethods.prepare({ ...request, mode: 'test', fiat })).rejects.toMatchObject({
      code: 'AMOUNT_BELOW_MINIMUM',
    })
    const pesos = { minor: 1_000_00n, currency: 'MXN' } as const
    await expect(deps.paymentMethods.prepare({ ...request, mode: 'test', fiat: pesos })).rejects.toMatchObject({
      code: 'RATES_UNAVAILABLE',
    })
  })
})

describe('the sweep', () => {
  it('finds payments that nobody was told about', async () => {
    const invoice = await engine.open({ asset: 'usdt_ethereum' })
    const { id } = invoice.terms
    const now = engine.deps.clock.now()
    await recordBlockTransfers(engine.deps, {
      ...CHAIN,
      blocks: [blockWith(50, now, paymentMethodOf(invoice), [{ key: 'lost-wake-up', amountBase: 5_000_000n }])],
    })
    engine.advance(2_000)
    expect(await overdueInvoices(engine.deps)).toContain(id)
    await advanceInvoice(engine.deps, id)
    expect(await overdueInvoices(engine.deps)).not.toContain(id)
    expect((await stateOf(id))?.status).toBe('partial')
  })

  // Guarantee: a payment in a block that was not read yet is never too late.
  it('lets a deadline wait until the scanner has passed it', async () => {
    const waiting = await engine.open({ asset: 'usdt_ethereum' })
    const unwatched = await engine.open({ asset: 'usdt_bsc' })
    const { expiresAt } = waiting.state
    await engine.setCursor(60, expiresAt - 5_000)
    engine.advance(engine.workspace.policy.quoteMs + 1_000)
    await engine.setCursor(61, expiresAt - 1)

    const early = await overdueInvoices(engine.deps)
    expect(early).toContain(unwatched.terms.id)
    expect(early).not.toContain(waiting.terms.id)
    await advanceInvoice(engine.deps, waiting.terms.id)
    expect((await stateOf(waiting.terms.id))?.status).toBe('pending')

    await engine.setCursor(62, expiresAt)
    expect(await overdueInvoices(engine.deps)).toContain(waiting.terms.id)
    await advanceInvoice(engine.deps, waiting.terms.id)
    await advanceInvoice(engine.deps, unwatched.terms.id)
    expect((await stateOf(waiting.terms.id))?.status).toBe('expired')
    expect((await stateOf(unwatched.terms.id))?.status).toBe('expired')
  })

  // Guarantee: a reorganisation after the deadline never reports a payer as too late whose transfer is mined again.
  it('checks the deadline again when a payment on time is orphaned, once the scanner has passed it again', async () => {
    await engine.publishRates()
    const invoice = await engine.open({ asset: 'usdt_ethereum' })
    const { id } = invoice.terms
    const { expiresAt } = invoice.state
    const mined = (height: number) =>
      blockWith(height, expiresAt - 10_000, paymentMethodOf(invoice), [{ key: 'twice', amountBase: 25_000_000n }])
    await recordBlockTransfers(engine.deps, { ...CHAIN, blocks: [mined(80)] })
    await advanceInvoice(engine.deps, id)
    engine.advance(engine.workspace.policy.quoteMs + 60_000)
    await engine.setCursor(81, expiresAt + 1)

    // The payment is taken back first, and the cursor goes back after it.
    await orphanPayments(engine.deps, { ...CHAIN, forkHeight: 79 })
    await advanceInvoice(engine.deps, id)
    await engine.setCursor(79, expiresAt - 20_000)
    expect(await overdueInvoices(engine.deps)).not.toContain(id)
    await recordBlockTransfers(engine.deps, { ...CHAIN, blocks: [mined(82)] })
    await advanceInvoice(engine.deps, id)
    expect((await types(id))?.slice(-3)).toEqual(['invoice.confirming', 'invoice.pending', 'invoice.confirming'])

    await orphanPayments(engine.deps, { ...CHAIN, forkHeight: 79 })
    await advanceInvoice(engine.deps, id)
    await engine.setCursor(83, expiresAt)
    expect(await overdueInvoices(engine.deps)).toContain(id)
    await advanceInvoice(engine.deps, id)
    expect((await types(id))?.slice(-2)).toEqual(['invoice.pending', 'invoice.expired'])
  })

  // Guarantee: a deadline never passes over blocks that nobody has read, however long that lasts.
  it('waits for a chain that stands still, however long', async () => {
    await engine.publishRates()
    const invoice = await engine.open({ asset: 'usdt_ethereum' })
    engine.advance(engine.workspace.policy.quoteMs + 30 * 24 * 60 * 60_000)
    expect(await overdueInvoices(engine.deps)).not.toContain(invoice.terms.id)
    await advanceInvoice(engine.deps, invoice.terms.id)
    expect((await stateOf(invoice.terms.id))?.status).toBe('pending')
  })
})
