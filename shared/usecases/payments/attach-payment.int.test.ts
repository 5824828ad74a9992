import { beforeAll, describe, expect, it } from 'vitest'
import { createExceptionDecisions } from '#shared/db/exceptions/exception-decisions.ts'
import { PAYMENTS } from '#shared/db/payments/payment-model.ts'
import type { AssetId } from '#shared/domain/enumerations.ts'
import type { Payment } from '#shared/ports/payments.ts'
import { decideException } from '#shared/usecases/exceptions/decide-exception.ts'
import { advanceInvoice, overdueInvoices } from '#shared/usecases/invoices/advance-invoice.ts'
import { applyInvoiceEvent } from '#shared/usecases/invoices/apply-invoice-event.ts'
import { createOutboxRelay } from '#shared/usecases/outbox/relay.ts'
import { readMovements } from '#shared/usecases/reports/read-movements.ts'
import { createWorkspace } from '#shared/usecases/workspaces/create-workspace.ts'
import { blockWith, type Engine, openEngine, paymentMethodOf } from '#test/support/engine.ts'
import { standIn } from '#test/support/stand-in.ts'
import { useStores } from '#test/support/stores.ts'
import { type AttachInput, attachPayment } from './attach-payment.ts'
import { confirmPayments, recordBlockTransfers } from './record-payments.ts'

const stores = useStores()
let engine: Engine
let height = 0

beforeAll(async () => {
  engine = await openEngine(stores)
  const material = await evmMaterial()
  const wallet = { workspaceId: engine.workspace.id, mode: 'test', family: 'evm', networks: ['ethereum'] } as const
  await engine.deps.wallets.insertWallet({
    ...wallet,
    id: engine.deps.random.uuid(),
    kind: 'xpub',
    materialId: material,
    createdAt: 1,
    disabledAt: null,
  })
})

async function evmMaterial(): Promise<string> {
  return (await engine.deps.wallets.listMaterials()).find((row) => row.family === 'evm')?.id ?? ''
}

/** Stores one transfer, confirmed unless told otherwise. */
async function stored(
  to: { matchKey: string; address: string },
  transfer: { key: string; amountBase: bigint; asset?: AssetId | null },
  confirmed = true,
): Promise<Payment> {
  height += 10
  const scope = { mode: 'test', network: 'ethereum', epoch: 1 } as const
  const block = blockWith(height, engine.deps.clock.now(), to, [transfer])
  await recordBlockTransfers(engine.deps, { ...scope, blocks: [block] })
  if (confirmed) await confirmPayments(engine.deps, { ...scope, height: height + 9, finalizedHeight: null })
  const [found] = await byKey(transfer.key)
  if (found === undefined) throw new Error('not stored')
  return found
}

async function byKey(key: string): Promise<readonly Payment[]> {
  const row = await stores.db.connection.collection<{ _id: string }>('payments').findOne({ key })
  const payment = await engine.deps.payments.findById(row?._id ?? '')
  return payment === null ? [] : [payment]
}

async function unmatchedAddress(index: number) {
  const [address] = await engine.deps.wallets.addressesAt(await evmMaterial(), [index])
  if (address === undefined) throw new Error('no derived address')
  return address
}

const attach = (payment: Payment, invoiceId: string, input: Partial<AttachInput> = {}) =>
  attachPayment(engine.deps, {
    paymentId: payment.id,
    invoiceId,
    valueBase: null,
    dryRun: false,
    actor: 'cli:anna',
    ...input,
  })

async function relayed(invoiceId: string) {
  for (let shard = 0; shard < 8; shard += 1) await createOutboxRelay(engine.deps).relayShard(shard)
  const [events, operations] = await Promise.all([
    engine.deps.events.listByInvoice(invoiceId),
    engine.deps.audits.listBySubject(invoiceId),
  ])
  return { events: events.map(({ type }) => type), operations }
}
const openIds = async () => (await engine.deps.exceptions.listOpen(null)).map(({ id }) => id)

describe('attachPayment', () => {
  // Guarantee: money of another asset counts only with a value that a named person gave, once.
  it('settles an invoice with money in another asset, once, and notes who said so', async () => {
    const invoice = await engine.open({ asset: 'usdt_ethereum' })
    const { id } = invoice.terms
    const payment = await stored(paymentMethodOf(invoice), {
      key: 'other',
      amountBase: 25_000_000n,
      asset: 'usdc_ethereum',
    })
    await advanceInvoice(engine.deps, id)
    await relayed(id)
    expect(await openIds()).toContain('wrong_asset:other')
    await expect(attach(payment, id)).rejects.toMatchObject({ code: 'VALIDATION_ERROR' })

    const planned = await attach(payment, id, { valueBase: 25_000_000n, dryRun: true })
    expect(planned).toMatchObject({ changed: true, statusBefore: 'pending', invoice: { state: { status: 'paid' } } })
    expect((await engine.deps.invoices.findById(id))?.state.status).toBe('pending')

    const done = await attach(payment, id, { valueBase: 25_000_000n })
    expect(done).toMatchObject({ changed: true, invoice: { state: { status: 'paid' } } })
    expect(await attach(payment, id, { valueBase: 25_000_000n })).toMatchObject({ changed: false })
    const { events, operations } = await relayed(id)
    expect(events).toEqual(['invoice.created', 'invoice.pending', 'invoice.paid'])
    expect(operations).toMatchObject([
      {
        action: 'invoice.funds_accepted',
        actor: 'cli:anna',
        detail: { payment: 'other', value_base_units: '25000000', status: 'paid' },
      },
    ])
    expect(await openIds()).not.toContain('wrong_asset:other')
    expect((await byKey('other'))[0]).toMatchObject({ counted: true, uncountedReason: null })
  })

  it('takes a token that no invoice can ask for', async () => {
    const invoice = await engine.open({ asset: 'usdt_ethereum' })
    const payment = await stored(paymentMethodOf(invoice), { key: 'sibling', amountBase: 25_000_000n, asset: null })
    await attach(payment, invoice.terms.id, { valueBase: 24_990_000n })
    await advanceInvoice(engine.deps, invoice.terms.id)
    const state = (await engine.deps.invoices.findById(invoice.terms.id))?.state
    expect(state).toMatchObject({ status: 'paid', underpaidAccepted: true })
    expect(await openIds()).not.toContain('wrong_asset:sibling')
  })

  it('gives money that nobody holds to the invoice, and finishes what a crash left half done', async () => {
    const invoice = await engine.open({ asset: 'usdt_ethereum' })
    const payment = await stored(await unmatchedAddress(22), { key: 'nobodys', amountBase: 25_000_000n })
    expect(await openIds()).toContain(`unmatched:nobodys:${engine.workspace.id}`)
    const owner = { invoiceId: invoice.terms.id, workspaceId: engine.workspace.id }
    await engine.deps.payments.attribute(payment, owner, engine.deps.clock.now())
    await advanceInvoice(engine.deps, invoice.terms.id)
    expect((await engine.deps.invoices.findById(invoice.terms.id))?.state.status).toBe('pending')

    const done = await attach(payment, invoice.terms.id)
    expect(done.invoice.state).toMatchObject({ status: 'paid', underpaidAccepted: false })
    expect(await openIds()).not.toContain(`unmatched:nobodys:${engine.workspace.id}`)
    const other = await engine.open({ asset: 'usdt_ethereum' })
    await expect(attach(payment, other.terms.id)).rejects.toMatchObject({ code: 'INVALID_STATE' })
  })

  // Guarantee: nobody is told to refund money that settled an invoice, whatever died between the two writes.
  it('closes the exception when it is repeated after a crash, and nobody can reject the money in between', async () => {
    const invoice = await engine.open({ asset: 'usdt_ethereum' })
    const payment = await stored(await unmatchedAddress(18), { key: 'half-applied', amountBase: 25_000_000n })
    const exceptionId = `unmatched:half-applied:${engine.workspace.id}`
    const exceptions = {
      close: async () => {
        throw new Error('the process died')
      },
    }
    const request = { paymentId: payment.id, invoiceId: invoice.terms.id, valueBase: null, dryRun: false, actor: 'cli' }
    await expect(attachPayment({ ...engine.deps, exceptions: standIn(exceptions) }, request)).rejects.toThrow(
      'the process died',
    )
    expect((await engine.deps.invoices.findById(invoice.terms.id))?.state.status).toBe('paid')
    const decisions = createExceptionDecisions(stores.db)
    const rejection = { workspaceId: engine.workspace.id, mode: 'test', exceptionId, resolution: 'rejected' } as const
    const attribution = { opId: engine.deps.random.uuid(), actor: 'user:bo@example.com', reason: 'sent back' }
    await expect(decideException({ ...engine.deps, decisions }, { ...rejection, ...attribution })).rejects.toThrow(
      `This money was applied to invoice #${invoice.terms.number}, so it cannot be rejected.`,
    )
    expect(await openIds()).toContain(exceptionId)

    expect(await attachPayment(engine.deps, request)).toMatchObject({ changed: false })
    expect(await openIds()).not.toContain(exceptionId)
  })

  // Guarantee: two people who attach the same payment at the same moment settle the invoice once, and neither gets an internal error.
  it('previews a payment that became the invoice’s after it was read as the one that is stored', async () => {
    const invoice = await engine.open({ asset: 'usdt_ethereum' })
    const { id } = invoice.terms
    const payment = await stored(await unmatchedAddress(21), { key: 'both-at-once', amountBase: 25_000_000n })
    let isFirst = true
    const payments = {
      ...engine.deps.payments,
      findById: async (paymentId: string) => {
        const read = await engine.deps.payments.findById(paymentId)
        if (isFirst && read !== null) {
          isFirst = false
          const owner = { invoiceId: id, workspaceId: engine.workspace.id }
          await engine.deps.payments.attribute(read, owner, engine.deps.clock.now())
          // Confirmed once more since, by a scanner, and folded in.
          const row = { _id: paymentId }
          await stores.db.collection(PAYMENTS).updateOne(row, { $inc: { version: 1 }, $set: { dirtyAt: new Date() } })
          await advanceInvoice(engine.deps, id)
        }
        return read
      },
    }
    const request = { paymentId: payment.id, invoiceId: id, valueBase: null, dryRun: false, actor: 'cli:anna' }
    const done = await attachPayment({ ...engine.deps, payments }, request)
    expect(done.invoice.state).toMatchObject({ status: 'paid', underpaidAccepted: false })
    expect(done.invoice.state.ledger.map((row) => row.payment)).toEqual(['both-at-once'])
  })

  // Guarantee: money that may still vanish settles nothing.
  it('refuses money that is not confirmed, and gives it to nobody', async () => {
    const invoice = await engine.open({ asset: 'usdt_ethereum' })
    const payment = await stored(await unmatchedAddress(21), { key: 'young', amountBase: 25_000_000n }, false)
    await expect(attach(payment, invoice.terms.id)).rejects.toMatchObject({ code: 'INVALID_STATE', status: 409 })
    expect((await byKey('young'))[0]).toMatchObject({ invoiceId: null })
  })

  // Guarantee: one merchant's money never settles another one's invoice.
  it('refuses money of another workspace', async () => {
    const mine = await engine.open({ asset: 'usdt_ethereum' })
    const payment = await stored(paymentMethodOf(mine), { key: 'mine', amountBase: 1_000_000n })
    const stranger = await createWorkspace(engine.deps, {
      name: 'Other',
      ownerEmail: 'other@example.com',
      actor: 'test',
    })
    const theirs = await engine.open({ asset: 'usdt_ethereum' })
    await stores.db.connection
      .collection<{ _id: string }>('invoices')
      .updateOne({ _id: theirs.terms.id }, { $set: { workspaceId: stranger.id } })
    const unknown = { code: 'NOT_FOUND', message: 'Payment not found.' }
    await expect(attach(payment, theirs.terms.id)).rejects.toMatchObject(unknown)
    const unmatched = await stored(await unmatchedAddress(20), { key: 'other-mine', amountBase: 1_000_000n })
    await expect(attach(unmatched, theirs.terms.id)).rejects.toMatchObject(unknown)
    expect((await byKey('other-mine'))[0]).toMatchObject({ invoiceId: null })
  })

  it('gives nothing to an invoice that is paid', async () => {
    const invoice = await engine.open({ asset: 'usdt_ethereum' })
    const first = await stored(paymentMethodOf(invoice), { key: 'enough', amountBase: 25_000_000n })
    await advanceInvoice(engine.deps, invoice.terms.id)
    expect(await attach(first, invoice.terms.id)).toMatchObject({ invoice: { state: { status: 'paid' } } })
    const unmatched = await stored(await unmatchedAddress(19), { key: 'late-other', amountBase: 25_000_000n })
    await expect(attach(unmatched, invoice.terms.id)).rejects.toMatchObject({ code: 'INVALID_STATE' })
    expect((await byKey('late-other'))[0]).toMatchObject({ invoiceId: null })
  })
})

describe('the books of attached money', () => {
  // Guarantee: a closed month never changes: money that was nobody's then is booked when it is given to an invoice.
  it('books money that matched nothing at the time of the decision, not of its confirmation', async () => {
    const payment = await stored(await unmatchedAddress(23), { key: 'of-last-month', amountBase: 25_000_000n })
    const books = { bookReads: engine.deps.bookReads, clock: engine.deps.clock }
    const ledger = async (from: number, to: number) => {
      const rows: string[] = []
      const scope = { workspaceId: engine.workspace.id, mode: 'test', from, to } as const
      for await (const entries of readMovements(books, scope))
        rows.push(...entries.map(({ movement: { kind, id, at, amountBase } }) => `${kind} ${id} ${at} ${amountBase}`))
      return rows
    }
    engine.advance(3_600_000)
    const closed = engine.deps.clock.now()
    const before = await ledger(0, closed)
    expect(before.join()).not.toContain(payment.id)
    engine.advance(31 * 86_400_000)
    await engine.publishRates()
    const invoice = await engine.open({ asset: 'usdt_ethereum' })
    await attach(payment, invoice.terms.id)
    expect(await ledger(0, closed)).toEqual(before)
    const after = await ledger(closed, engine.deps.clock.now() + 1)
    expect(after.map((row) => row.split(' ')).map(([kind, id, , base]) => [kind, id?.slice(0, 36), base])).toEqual([
      ['receipt', payment.id, '25000000'],
      ['correction', payment.id, '0'],
    ])
  })
})

// Guarantee: whether a payment counts is the same in every place, whatever died between the write of the invoice and that of its payments.
it('has every payment say what its invoice says, although a crash lost their marks and nobody repeats the command', async () => {
  const invoice = await engine.open({ asset: 'usdt_ethereum' })
  const { id } = invoice.terms
  await applyInvoiceEvent(engine.deps, { invoiceId: id, event: { type: 'cancel_requested' }, opId: null })
  const one = await stored(paymentMethodOf(invoice), { key: 'marks-one', amountBase: 10_000_000n })
  const other = await stored(paymentMethodOf(invoice), { key: 'marks-other', amountBase: 15_000_000n })
  await advanceInvoice(engine.deps, id)
  const payments = {
    ...engine.deps.payments,
    markApplied: async () => {
      throw new Error('the process died')
    },
  }
  const request = { paymentId: one.id, invoiceId: id, valueBase: null, dryRun: false, actor: 'cli' }
  await expect(attachPayment({ ...engine.deps, payments }, request)).rejects.toThrow('the process died')

  engine.advance(60_000)
  for (const overdue of await overdueInvoices(engine.deps)) await advanceInvoice(engine.deps, overdue)
  const ledger = (await engine.deps.invoices.findById(id))?.state.ledger ?? []
  expect(ledger).toMatchObject([{ counted: true }, { counted: true }])
  const marks = await Promise.all([one, other].map((payment) => engine.deps.payments.findById(payment.id)))
  expect(marks).toMatchObject([
    { counted: true, uncountedReason: null, dirtyAt: null },
    { counted: true, uncountedReason: null, dirtyAt: null },
  ])
})
