import { beforeAll, describe, expect, it } from 'vitest'
import type { Invoice } from '#shared/ports/invoices.ts'
import { answerPaidHash } from '#shared/usecases/diagnostics/answer-paid-hash.ts'
import { createOutboxRelay } from '#shared/usecases/outbox/relay.ts'
import { listPayments } from '#shared/usecases/payments/list-payments.ts'
import { confirmPayments, recordBlockTransfers } from '#shared/usecases/payments/record-payments.ts'
import { blockWith, type Engine, openEngine, paymentMethodOf } from '#test/support/engine.ts'
import { useStores } from '#test/support/stores.ts'
import { advanceInvoice } from './advance-invoice.ts'
import { cancelInvoice } from './cancel-invoice.ts'
import { countPayment } from './count-payment.ts'
import { quoteAsset } from './quote-asset.ts'

const stores = useStores()
const CHAIN = { mode: 'test', network: 'ethereum', epoch: 1 } as const
const DUE = 25_000_000n
let engine: Engine
let height = 0

beforeAll(async () => {
  engine = await openEngine(stores)
})

/** One confirmed transfer to the invoice's address, applied; returns its transfer key. */
async function pay(invoice: Invoice, amountBase: bigint, confirmed = true): Promise<string> {
  height += 10
  const key = `test:ethereum:0x${String(height).padStart(64, '0')}:0`
  const block = blockWith(height, engine.deps.clock.now(), paymentMethodOf(invoice), [{ key, amountBase }])
  const transfers = block.transfers.map((one) => ({ ...one, txHash: key.split(':')[2] ?? '' }))
  await recordBlockTransfers(engine.deps, { ...CHAIN, blocks: [{ ...block, transfers }] })
  if (confirmed) await confirmPayments(engine.deps, { ...CHAIN, height: height + 9, finalizedHeight: null })
  await advanceInvoice(engine.deps, invoice.terms.id)
  return key
}

const scope = () => ({ workspaceId: engine.workspace.id, mode: 'test' }) as const
const stateOf = async (invoice: Invoice) => (await engine.deps.invoices.findById(invoice.terms.id))?.state
async function shopHears(invoice: Invoice): Promise<readonly string[]> {
  for (let shard = 0; shard < 8; shard += 1) await createOutboxRelay(engine.deps).relayShard(shard)
  return (await engine.deps.events.listByInvoice(invoice.terms.id)).map(({ type }) => type)
}
const shownToShop = (invoice: Invoice) =>
  listPayments(engine.deps, { ...scope(), invoiceId: invoice.terms.id, limit: 10, beforeId: null })

describe('0.000001 USDT from a stranger', () => {
  it('is shown to the shop with its reason, and the invoice can still be cancelled', async () => {
    const invoice = await engine.open({ asset: 'usdt_ethereum' })
    const key = await pay(invoice, 1n)
    expect(await stateOf(invoice)).toMatchObject({ status: 'pending', ledger: [], others: null })
    expect(await shownToShop(invoice)).toMatchObject([
      { amount: '0.000001', status: 'confirmed', counted: false, uncounted_reason: 'dust', late: false },
    ])
    expect((await engine.deps.payments.findByKeys([key]))[0]).toMatchObject({ dirtyAt: null })
    await cancelInvoice(engine.deps, { ...scope(), invoiceId: invoice.terms.id, opId: 'cancel dusty' })
    expect(await shopHears(invoice)).toEqual(['invoice.created', 'invoice.pending', 'invoice.cancelled'])
  })

  it('does not keep the payer from another coin', async () => {
    const invoice = await engine.open({ asset: 'usdt_ethereum' })
    await pay(invoice, 1n)
    await quoteAsset(engine.deps, { ...scope(), invoiceId: invoice.terms.id, asset: 'eth_ethereum', opId: 'switch' })
    expect((await stateOf(invoice))?.paymentMethods.map(({ asset, to }) => [asset, to === null])).toEqual([
      ['usdt_ethereum', false],
      ['eth_ethereum', true],
    ])
  })

  it('makes a paid invoice neither overpaid nor late, and says nothing to anybody', async () => {
    const invoice = await engine.open({ asset: 'usdt_ethereum' })
    await pay(invoice, DUE)
    const reported = await shopHears(invoice)
    await pay(invoice, 1n)
    expect(await stateOf(invoice)).toMatchObject({ status: 'paid', exceptions: [] })
    expect(await shopHears(invoice)).toEqual(reported)
  })

  it('is named to a payer who asks about it', async () => {
    const invoice = await engine.open({ asset: 'usdt_ethereum' })
    const [, , txHash = ''] = (await pay(invoice, 24_999n)).split(':')
    const deps = { ...engine.deps, clientOf: () => null }
    const { verdict } = await answerPaidHash(deps, { invoiceId: invoice.terms.id, txHash })
    expect(verdict).toBe('too_small')
  })
})

describe('a small rest', () => {
  it('of 0.02 completes 25.00, with an event for each transfer', async () => {
    const invoice = await engine.open({ asset: 'usdt_ethereum' })
    await pay(invoice, DUE - 20_000n)
    expect((await stateOf(invoice))?.status).toBe('partial')
    await pay(invoice, 20_000n)
    expect((await stateOf(invoice))?.status).toBe('paid')
    expect((await shopHears(invoice)).filter((type) => type === 'payment.confirmed')).toHaveLength(2)
    expect(await shownToShop(invoice)).toMatchObject([{ counted: true, uncounted_reason: null }, { counted: true }])
  })
})

describe('countPayment', () => {
  const count = (paymentId: string) =>
    countPayment(engine.deps, { ...scope(), paymentId, actor: 'user:ana@example.com', reason: 'the last cent' })
  const idOf = async (key: string) => (await engine.deps.payments.findByKeys([key]))[0]?.id ?? ''

  // Guarantee: dust counts by the word of a named person, once, with an audit row and the events of any payment.
  it('counts dust once, however many operators ask at the same time', async () => {
    const invoice = await engine.open({ asset: 'usdt_ethereum' })
    const key = await pay(invoice, 9_000n)
    const id = await idOf(key)
    await Promise.all(Array.from({ length: 5 }, () => count(id)))
    await count(id)
    expect(await stateOf(invoice)).toMatchObject({ status: 'partial', others: null, ledger: [{ counted: true }] })
    expect(await shopHears(invoice)).toEqual([
      'invoice.created',
      'invoice.pending',
      'payment.detected',
      'invoice.partial',
      'payment.confirmed',
    ])
    expect(await engine.deps.audits.listBySubject(invoice.terms.id)).toMatchObject([
      { action: 'invoice.payment_counted', actor: 'user:ana@example.com', detail: { payment: key } },
    ])
    expect(await shownToShop(invoice)).toMatchObject([{ counted: true, uncounted_reason: null }])
    const attempt = cancelInvoice(engine.deps, { ...scope(), invoiceId: invoice.terms.id, opId: 'too late' })
    await expect(attempt).rejects.toMatchObject({ code: 'INVALID_STATE' })
  })

  it('leaves a rest that other dust closes, which was put aside before', async () => {
    const invoice = await engine.open({ asset: 'usdt_ethereum' })
    const { toleranceBase } = paymentMethodOf(invoice).policy
    await pay(invoice, DUE - toleranceBase - 30_000n)
    const id = await idOf(await pay(invoice, 20_000n))
    await pay(invoice, 15_000n)
    expect((await stateOf(invoice))?.status).toBe('partial')
    await count(id)
    expect((await stateOf(invoice))?.status).toBe('paid')
  })

  it('refuses other money, dust that waits for confirmations, and what is a stranger’s', async () => {
    const invoice = await engine.open({ asset: 'usdt_ethereum' })
    const half = await idOf(await pay(invoice, DUE / 2n))
    await expect(count(half)).rejects.toMatchObject({ code: 'INVALID_STATE' })
    const fresh = await idOf(await pay(invoice, 5n, false))
    await expect(count(fresh)).rejects.toMatchObject({ code: 'INVALID_STATE' })
    const foreign = { paymentId: fresh, actor: 'user:eve@example.com', reason: 'mine now', mode: 'test' } as const
    await expect(countPayment(engine.deps, { ...foreign, workspaceId: 'another' })).rejects.toMatchObject({
      code: 'NOT_FOUND',
    })
    await expect(count('01920a5e-4c7b-7d3a-9f21-6b8f0c1d2e40')).rejects.toMatchObject({ code: 'NOT_FOUND' })
    expect((await stateOf(invoice))?.ledger).toHaveLength(1)
  })
})
