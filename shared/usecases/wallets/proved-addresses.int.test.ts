import { randomUUID } from 'node:crypto'
import { beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { EXCEPTIONS } from '#shared/db/exceptions/exception-model.ts'
import { PAYMENTS } from '#shared/db/payments/payment-model.ts'
import { OWNERSHIP_PROOFS } from '#shared/db/wallets/ownership-models.ts'
import { moveInboxRows, type RestOfInboxes } from '#shared/db/wallets/wallet-operations.ts'
import { addressSubject } from '#shared/domain/ownership/ownership.ts'
import { advanceInvoice } from '#shared/usecases/invoices/advance-invoice.ts'
import { addressOwners } from '#shared/usecases/payments/address-owners.ts'
import { attachPayment } from '#shared/usecases/payments/attach-payment.ts'
import { confirmPayments, recordBlockTransfers } from '#shared/usecases/payments/record-payments.ts'
import { createWorkspace } from '#shared/usecases/workspaces/create-workspace.ts'
import { blockWith, type Engine, openEngine, paymentMethodOf } from '#test/support/engine.ts'
import { useStores } from '#test/support/stores.ts'

const stores = useStores()
const SCOPE = { mode: 'test', network: 'ethereum', epoch: 1 } as const
let engine: Engine
let prover: string
let height = 1_000

beforeAll(async () => {
  engine = await openEngine(stores)
})
beforeEach(async () => {
  prover = (await createWorkspace(engine.deps, { name: 'Prover', ownerEmail: 'bob@example.com', actor: 'test' })).id
})

/** Stores what `storeProof` stores of an address; the way there is tested with the procedures. */
async function prove(matchKey: string, workspaceId: string, provedAt = engine.deps.clock.now()) {
  const _id = addressSubject('test', 'evm', matchKey)
  const facts = { workspaceId, mode: 'test' as const, family: 'evm' as const, materialId: 'm', nonce: 'n' }
  const $set = { ...facts, provedAt: new Date(provedAt) }
  await stores.db.collection(OWNERSHIP_PROOFS).updateOne({ _id }, { $set }, { upsert: true })
}

/** A confirmed transfer in a block of now, scanned twice. */
async function pay(to: { matchKey: string; address: string }, amountBase: bigint, at = engine.deps.clock.now()) {
  height += 10
  const key = `k${randomUUID()}`
  const block = blockWith(height, at, to, [{ key, amountBase }])
  for (const _scan of [1, 2]) await recordBlockTransfers(engine.deps, { ...SCOPE, blocks: [block] })
  await confirmPayments(engine.deps, { ...SCOPE, height: height + 9, finalizedHeight: null })
  const [payment] = await engine.deps.payments.findByKeys([key])
  if (payment === undefined) throw new Error('no payment was stored')
  return payment
}

const due = (invoice: Awaited<ReturnType<Engine['open']>>) =>
  invoice.state.paymentMethods[0]?.quotes[0]?.amountBase ?? 0n
const statusOf = async (id: string) => {
  await advanceInvoice(engine.deps, id)
  return (await engine.deps.invoices.findById(id))?.state.status
}
const inboxOf = async (paymentKey: string) =>
  (await stores.db.collection(EXCEPTIONS).find({ paymentKey }).toArray()).map(({ workspaceId }) => workspaceId)

describe('money on an address that another workspace proved', () => {
  // Guarantee: the coins are the prover's, so no invoice of the displaced workspace is announced as paid with them.
  it('goes to the inbox of the prover alone and settles no open invoice of the displaced one', async () => {
    const invoice = await engine.open({ asset: 'usdt_ethereum' })
    await prove(paymentMethodOf(invoice).matchKey, prover)
    const payment = await pay(paymentMethodOf(invoice), due(invoice))
    expect(payment).toMatchObject({ invoiceId: null, workspaceId: null, uncountedReason: 'unmatched' })
    expect(await inboxOf(payment.key)).toEqual([prover])
    expect(await statusOf(invoice.terms.id)).toBe('pending')
    // The open invoice keeps its address.
    const stored = await engine.deps.invoices.findById(invoice.terms.id)
    expect(stored === null ? null : paymentMethodOf(stored).address).toBe(paymentMethodOf(invoice).address)
  })

  it('cannot be attached by the displaced workspace, and can by the prover only to its own invoices', async () => {
    const invoice = await engine.open({ asset: 'usdt_ethereum' })
    await prove(paymentMethodOf(invoice).matchKey, prover)
    const payment = await pay(paymentMethodOf(invoice), due(invoice))
    const request = { paymentId: payment.id, invoiceId: invoice.terms.id, valueBase: null, dryRun: false, actor: 'a' }
    await expect(attachPayment(engine.deps, request)).rejects.toMatchObject({
      ...{ code: 'NOT_FOUND', message: 'Payment not found.' },
    })
    expect(await statusOf(invoice.terms.id)).toBe('pending')
    expect((await engine.deps.payments.findByKeys([payment.key]))[0]?.invoiceId).toBeNull()
  })

  it('of before the proof is still the invoice’s, however late it is scanned', async () => {
    const invoice = await engine.open({ asset: 'usdt_ethereum' })
    const paidAt = engine.deps.clock.now()
    await prove(paymentMethodOf(invoice).matchKey, prover, paidAt + 1_000)
    const payment = await pay(paymentMethodOf(invoice), due(invoice), paidAt)
    expect(payment).toMatchObject({ invoiceId: invoice.terms.id })
    expect(await statusOf(invoice.terms.id)).toBe('paid')
  })

  it('that was attributed before stays where it is when its block is read again', async () => {
    const invoice = await engine.open({ asset: 'usdt_ethereum' })
    const to = paymentMethodOf(invoice)
    const at = engine.deps.clock.now()
    height += 10
    const block = blockWith(height, at, to, [{ key: `k${height}`, amountBase: due(invoice) }])
    await recordBlockTransfers(engine.deps, { ...SCOPE, blocks: [block] })
    await prove(to.matchKey, prover, at - 1)
    await recordBlockTransfers(engine.deps, { ...SCOPE, blocks: [block] })
    expect((await engine.deps.payments.findByKeys([`k${height}`]))[0]).toMatchObject({ invoiceId: invoice.terms.id })
    expect(await inboxOf(`k${height}`)).toEqual([])
  })

  it('settles an invoice of the workspace that proved its own address', async () => {
    const invoice = await engine.open({ asset: 'usdt_ethereum' })
    await prove(paymentMethodOf(invoice).matchKey, engine.workspace.id)
    await pay(paymentMethodOf(invoice), due(invoice))
    expect(await statusOf(invoice.terms.id)).toBe('paid')
  })

  it('names the prover as its owner to whoever looks a transaction up', async () => {
    const invoice = await engine.open({ asset: 'usdt_ethereum' })
    const { matchKey } = paymentMethodOf(invoice)
    await prove(matchKey, prover)
    const owners = await addressOwners(engine.deps, [{ mode: 'test', network: 'ethereum', matchKey }])
    expect(owners.get(matchKey)).toEqual([prover])
  })

  // Guarantee: who lists somebody else's address and sends dust to it cannot keep the owner's proof from being stored.
  it('is moved from an inbox with more entries than one transaction looks at', async () => {
    const invoice = await engine.open({ asset: 'usdt_ethereum' })
    const to = paymentMethodOf(invoice)
    const row = await engine.deps.wallets.findAddresses('test', 'evm', [to.matchKey])
    const dust = Array.from({ length: 1_100 }, (_, one) => ({
      ...{ _id: `unmatched:dust-${one}:${engine.workspace.id}`, kind: 'unmatched' as const, paymentKey: `dust-${one}` },
      ...{ workspaceId: engine.workspace.id, mode: 'test' as const, invoiceId: null, detail: 'x' },
      ...{ open: true, openedAt: new Date(one), closedAt: null },
    }))
    await stores.db.collection(EXCEPTIONS).insertMany(dust)
    await engine.advance(90 * 86_400_000)
    const payment = await pay({ matchKey: to.matchKey, address: to.address }, 7_000_000n)
    await stores.db.collection(PAYMENTS).updateOne({ key: payment.key }, { $set: { invoiceId: null } })
    const id = `unmatched:${payment.key}:${engine.workspace.id}`
    const known = {
      kind: 'unmatched',
      mode: 'test',
      invoiceId: null,
      detail: 'Money arrived.',
      closedAt: null,
    } as const
    const entry = {
      ...known,
      id,
      workspaceId: engine.workspace.id,
      paymentKey: payment.key,
      openedAt: engine.deps.clock.now(),
    }
    await engine.deps.exceptions.openOnce([entry])
    const facts = {
      nonce: 'n',
      subjectHash: 'h',
      workspaceId: prover,
      mode: 'test',
      family: 'evm',
      materialId: 'm',
    } as const
    const rows = row.map(({ matchKey, address }) => ({ matchKey, address, materialId: 'm', index: 0 }))
    const proof = { ...facts, isKey: false, rows, provedAt: engine.deps.clock.now(), displaced: [] } as never
    let rest: RestOfInboxes = [{ workspaceId: engine.workspace.id, after: null }]
    let steps = 0
    for (; rest.length > 0; steps += 1) rest = await moveInboxRows(stores.db, proof, rest, null)
    expect(steps).toBe(3)
    const stored = await stores.db.collection(EXCEPTIONS).find({ paymentKey: payment.key }).toArray()
    expect(stored.map(({ workspaceId, open }) => [workspaceId, open]).sort()).toEqual(
      [
        [engine.workspace.id, false],
        [prover, true],
      ].sort(),
    )
    const left = { paymentKey: { $in: dust.map(({ paymentKey }) => paymentKey) }, open: true }
    expect(await stores.db.collection(EXCEPTIONS).countDocuments(left)).toBe(dust.length)
  })
})
