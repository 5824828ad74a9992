import { beforeAll, describe, expect, it } from 'vitest'
import type { Invoice } from '#shared/ports/invoices.ts'
import { advanceInvoice } from '#shared/usecases/invoices/advance-invoice.ts'
import { applyInvoiceEvent } from '#shared/usecases/invoices/apply-invoice-event.ts'
import { cancelInvoice } from '#shared/usecases/invoices/cancel-invoice.ts'
import { createOutboxRelay } from '#shared/usecases/outbox/relay.ts'
import { confirmPayments, recordBlockTransfers } from '#shared/usecases/payments/record-payments.ts'
import { blockWith, type Engine, openEngine, paymentMethodOf } from '#test/support/engine.ts'
import { useStores } from '#test/support/stores.ts'
import { explainInvoice } from './explain-invoice.ts'

const stores = useStores()
let engine: Engine
let height = 1_000

beforeAll(async () => {
  engine = await openEngine(stores)
  await engine.setCursor(height, engine.deps.clock.now())
})

const scope = { mode: 'test', network: 'ethereum', epoch: 1 } as const
const explained = (invoice: Invoice) => explainInvoice(engine.deps, invoice.terms.id)
const conclusion = async (invoice: Invoice) => (await explained(invoice)).conclusion
const open = () => engine.open({ asset: 'usdt_ethereum' })

async function paid(invoice: Invoice, key: string, amountBase: bigint, fold = true): Promise<void> {
  height += 1
  const block = blockWith(height, engine.deps.clock.now(), paymentMethodOf(invoice), [{ key, amountBase }])
  await recordBlockTransfers(engine.deps, { ...scope, blocks: [block] })
  await engine.setCursor(height, engine.deps.clock.now())
  if (fold) await advanceInvoice(engine.deps, invoice.terms.id)
}

async function buried(): Promise<void> {
  height += 3
  await engine.setCursor(height, engine.deps.clock.now())
  await confirmPayments(engine.deps, { ...scope, height, finalizedHeight: null })
}

describe('explainInvoice answers why an invoice is not paid', () => {
  it('when nothing came, nothing was chosen, or it was cancelled', async () => {
    const invoice = await open()
    expect(await conclusion(invoice)).toBe(
      `Waiting for payment: nothing received yet (checked up to block ${height.toLocaleString('en-US')}).`,
    )
    expect(await conclusion(await engine.open())).toContain('the customer never chose a coin')
    const { workspaceId, mode, id } = invoice.terms
    await cancelInvoice(engine.deps, { workspaceId, mode, invoiceId: id, opId: 'cancel-1' })
    expect(await conclusion(invoice)).toBe('Not paid: it was cancelled.')
  })

  it('while it is on its way, with every payment, sum, event and delivery', async () => {
    const invoice = await open()
    await paid(invoice, 'half', 12_500_000n)
    expect(await conclusion(invoice)).toContain('Partly paid: 12.5 of 25 USDT received, 12.5 USDT to go.')
    await paid(invoice, 'rest', 12_500_000n, false)
    expect(await conclusion(invoice)).toContain('a stored payment has not been applied')
    await advanceInvoice(engine.deps, invoice.terms.id)
    expect(await conclusion(invoice)).toMatch(
      /^Not paid yet: its payment is waiting for confirmations\. [12] of 3 confirmations\. It counts once/,
    )
    await buried()
    await advanceInvoice(engine.deps, invoice.terms.id)
    for (let shard = 0; shard < 8; shard += 1) await createOutboxRelay(engine.deps).relayShard(shard)
    const known = await explained(invoice)
    expect(known).toMatchObject({
      conclusion: 'Paid.',
      sums: { due: '25000000', received: '25000000', settled: '25000000', missing: '0' },
      payments: [{ words: 'Confirmed. It counts.' }, { words: 'Confirmed. It counts.' }],
      deadline: 'No further checks in status paid.',
      openExceptions: [],
    })
    expect(known.events.map(({ type, relayed }) => [type, relayed])).toContainEqual(['invoice.paid', true])
  })

  it('when money came too late, and how late', async () => {
    const invoice = await open()
    engine.advance(26 * 60_000)
    await engine.setCursor(height, engine.deps.clock.now())
    await applyInvoiceEvent(engine.deps, {
      invoiceId: invoice.terms.id,
      event: { type: 'deadline_reached' },
      opId: null,
    })
    // No rate was published at that time, so nobody can tell what the money was worth.
    engine.advance(10 * 60_000)
    await paid(invoice, 'late', 25_000_000n)
    const known = await explained(invoice)
    expect(known.conclusion).toMatch(
      /^Not paid: the payment received does not pay it\. 25 usdt_ethereum: .*min after the deadline, and no rate was available at that time\. It expired at/,
    )
    expect(known.payments).toMatchObject([{ late: true, counted: true, eligible: false }])
    await engine.publishRates()
  })

  it('when the payment vanished, or the scanner does not see the chain', async () => {
    const invoice = await open()
    await paid(invoice, 'gone', 25_000_000n)
    await engine.deps.payments.orphanAbove({ ...scope, forkHeight: height - 1, at: engine.deps.clock.now() })
    await advanceInvoice(engine.deps, invoice.terms.id)
    expect(await conclusion(invoice)).toContain('its payment is gone. 25 usdt_ethereum: Gone: its block left')
    const waiting = await open()
    const cursor = await engine.deps.cursors.find('test', 'ethereum')
    const expected = { hash: cursor?.hash ?? '', epoch: cursor?.lease?.epoch ?? 0 }
    await engine.deps.cursors.advance('test', 'ethereum', expected, { headHeight: height + 500 })
    expect(await conclusion(waiting)).toContain(`is at block ${height}, 500 blocks behind its node`)
    await engine.deps.cursors.advance('test', 'ethereum', expected, { status: 'halted', haltReason: 'It forked.' })
    expect(await conclusion(waiting)).toContain('is halted: It forked.')
    await engine.deps.cursors.advance('test', 'ethereum', expected, {
      status: 'live',
      haltReason: null,
      headHeight: height,
    })
  })

  it('knows no invoice that does not exist', async () => {
    await expect(explainInvoice(engine.deps, 'nobody')).rejects.toMatchObject({ code: 'NOT_FOUND' })
  })
})
