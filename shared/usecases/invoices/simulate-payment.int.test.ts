import { beforeAll, describe, expect, it } from 'vitest'
import { ASSET_IDS } from '#shared/domain/enumerations.ts'
import { recordBlockTransfers } from '#shared/usecases/payments/record-payments.ts'
import { sampleOf } from '#test/support/depth.ts'
import { blockWith, type Engine, openEngine, paymentMethodOf } from '#test/support/engine.ts'
import { useStores } from '#test/support/stores.ts'
import { advanceInvoice } from './advance-invoice.ts'
import { simulatePayment } from './simulate-payment.ts'

const stores = useStores()
let engine: Engine

beforeAll(async () => {
  engine = await openEngine(stores)
})

type Scenario = Parameters<typeof simulatePayment>[1]['scenario']
const simulate = (invoiceId: string, scenario: Scenario, opId = engine.deps.random.uuid()) =>
  simulatePayment(engine.deps, { workspaceId: engine.workspace.id, mode: 'test', invoiceId, scenario, opId })
const events = async (id: string) =>
  (await engine.deps.invoices.findById(id))?.outbox.flatMap((entry) => (entry.kind === 'event' ? [entry.type] : []))
const received = async (id: string) => {
  const payments = await engine.deps.payments.listByInvoice(id)
  return payments.reduce((sum, payment) => sum + payment.amountBase, 0n)
}

describe('simulatePayment', () => {
  it('locks the first asset of the specification and pays it', async () => {
    const { terms } = await engine.open()
    const invoice = await simulate(terms.id, 'paid')
    expect(invoice.state.status).toBe('paid')
    expect(paymentMethodOf(invoice)).toMatchObject({ asset: 'btc_bitcoin' })
    expect(await events(terms.id)).toEqual([
      'invoice.created',
      'invoice.pending',
      'payment.detected',
      'invoice.confirming',
      'payment.confirmed',
      'invoice.paid',
    ])
  })

  // Guarantee: in test mode a merchant rehearses every asset; no node answers here.
  it.each(sampleOf(ASSET_IDS, 2))('pays an invoice in %s without a node', async (asset) => {
    const { terms } = await engine.open({ asset })
    const invoice = await simulate(terms.id, 'paid')
    expect([invoice.state.status, paymentMethodOf(invoice).asset]).toEqual(['paid', asset])
    expect(await received(terms.id)).toBe(paymentMethodOf(invoice).quotes[0]?.amountBase)
  })

  it('skips assets whose minimum the amount does not meet', async () => {
    const { terms } = await engine.open({ minor: 100n })
    const paymentMethod = paymentMethodOf(await simulate(terms.id, 'paid'))
    const info = engine.deps.catalog.asset(paymentMethod.asset)
    expect(paymentMethod.quotes[0]?.amountBase).toBeGreaterThanOrEqual(info.minBase)
  })

  // One idempotency key is one operation, even when its first process was stopped and another took over.
  it('pays once when a stopped twin of the same operation goes on', async () => {
    const { terms } = await engine.open({ asset: 'usdt_bsc' })
    const opId = engine.deps.random.uuid()
    const { payments } = engine.deps
    let looked = false
    const hasSimulated = async (id: string, op: string) => {
      const isThere = await payments.hasSimulated(id, op)
      if (!looked) {
        looked = true
        await simulate(terms.id, 'partial', opId)
      }
      return isThere
    }
    const stopped = { ...engine.deps, payments: { ...payments, hasSimulated } }
    const input = { workspaceId: engine.workspace.id, mode: 'test', invoiceId: terms.id, opId } as const
    const invoice = await simulatePayment(stopped, { ...input, scenario: 'partial' })
    expect(invoice.state.status).toBe('partial')
    expect(await payments.listByInvoice(terms.id)).toHaveLength(1)
  })

  it('pays half, then the rest', async () => {
    const { terms } = await engine.open({ asset: 'usdt_bsc' })
    const half = await simulate(terms.id, 'partial')
    expect(half.state.status).toBe('partial')
    expect(half.state.ledger.map((row) => row.amountBase)).toEqual([125n * 10n ** 17n])
    const full = await simulate(terms.id, 'paid')
    expect(full.state.status).toBe('paid')
    expect(await received(terms.id)).toBe(25n * 10n ** 18n)
  })

  it('overpays by a tenth', async () => {
    const { terms } = await engine.open({ asset: 'usdt_tron' })
    expect((await simulate(terms.id, 'overpaid')).state.status).toBe('overpaid')
    expect(await received(terms.id)).toBe(27_500_000n)
  })

  it('expires at once, although the chain has a node', async () => {
    const { terms } = await engine.open({ asset: 'usdt_ethereum' })
    expect((await simulate(terms.id, 'expired')).state.status).toBe('expired')
    expect((await events(terms.id))?.at(-1)).toBe('invoice.expired')
    await expect(simulate(terms.id, 'paid')).rejects.toMatchObject({ code: 'INVALID_STATE' })
  })

  // Guarantee: a request repeated after a lost answer never pays twice.
  it('changes nothing when an operation is repeated', async () => {
    const { terms } = await engine.open({ asset: 'usdt_solana' })
    const first = await simulate(terms.id, 'partial', 'same-op')
    const again = await simulate(terms.id, 'partial', 'same-op')
    expect(again.state.version).toBe(first.state.version)
    expect(await engine.deps.payments.listByInvoice(terms.id)).toHaveLength(1)
  })

  it('finishes an operation that died between the payment and the invoice', async () => {
    const { terms } = await engine.open({ asset: 'usdt_bsc' })
    const died = new Error('died')
    const invoices = { ...engine.deps.invoices, save: () => Promise.reject(died) }
    const scope = { workspaceId: engine.workspace.id, mode: 'test', invoiceId: terms.id } as const
    const input = { ...scope, scenario: 'paid', opId: 'dies' } as const
    await expect(simulatePayment({ ...engine.deps, invoices }, input)).rejects.toBe(died)
    expect((await simulatePayment(engine.deps, input)).state.status).toBe('paid')
    expect(await received(terms.id)).toBe(25n * 10n ** 18n)
  })

  // Guarantee: simulations at the same time never bring more than was asked for.
  it('pays once when many ask at the same time', async () => {
    const { terms } = await engine.open({ asset: 'usdt_bsc' })
    const requests = Array.from({ length: 8 }, () => simulate(terms.id, 'paid'))
    const settled = await Promise.allSettled(requests)
    expect(settled.filter((result) => result.status === 'fulfilled')).toHaveLength(1)
    for (const result of settled) {
      if (result.status === 'rejected') expect(result.reason).toMatchObject({ code: 'INVALID_STATE' })
    }
    expect(await received(terms.id)).toBe(25n * 10n ** 18n)
  })

  it('refuses live invoices, foreign ones and those that hold real money', async () => {
    const { deps, workspace } = engine
    const invoice = await engine.open({ asset: 'usdt_ethereum' })
    const { id } = invoice.terms
    const input = { workspaceId: workspace.id, mode: 'test', invoiceId: id, scenario: 'paid', opId: 'r' } as const
    await expect(simulatePayment(deps, { ...input, mode: 'live' })).rejects.toMatchObject({ code: 'TEST_MODE_ONLY' })
    await expect(simulatePayment(deps, { ...input, workspaceId: 'w' })).rejects.toMatchObject({ code: 'NOT_FOUND' })
    const block = blockWith(1, deps.clock.now(), paymentMethodOf(invoice), [{ key: 'real', amountBase: 1_000_000n }])
    await recordBlockTransfers(deps, { mode: 'test', network: 'ethereum', blocks: [block], epoch: 1 })
    await advanceInvoice(deps, id)
    await expect(simulatePayment(deps, input)).rejects.toMatchObject({ code: 'INVALID_STATE' })
  })

  it('says when no asset has a rate', async () => {
    const { terms } = await engine.open()
    engine.advance(130_000)
    await expect(simulate(terms.id, 'paid')).rejects.toMatchObject({ code: 'RATES_UNAVAILABLE', status: 503 })
    expect((await engine.deps.invoices.findById(terms.id))?.state.status).toBe('new')
  })
})
