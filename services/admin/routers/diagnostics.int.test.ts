import { beforeAll, describe, expect, it } from 'vitest'
import { advanceInvoice } from '#shared/usecases/invoices/advance-invoice.ts'
import { createOutboxRelay } from '#shared/usecases/outbox/relay.ts'
import { confirmPayments, recordBlockTransfers } from '#shared/usecases/payments/record-payments.ts'
import { type AdminCaller, adminCaller } from '#test/support/admin.ts'
import { blockWith, type Engine, openEngine, paymentMethodOf } from '#test/support/engine.ts'
import { useStores } from '#test/support/stores.ts'

const stores = useStores()
const scope = { mode: 'test', network: 'ethereum', epoch: 1 } as const
let engine: Engine
let ana: AdminCaller
let unmatchedHash = ''
let unmatchedId = ''
let rejected = { hash: '', id: '' }

beforeAll(async () => {
  engine = await openEngine(stores)
  ana = await adminCaller(stores, { workspaceId: engine.workspace.id, role: 'support', email: 'ana@example.com' })
  await engine.setCursor(200, engine.deps.clock.now())
  const material = (await engine.deps.wallets.listMaterials()).find(({ family }) => family === 'evm')?.id ?? ''
  await engine.deps.wallets.insertWallet({
    id: engine.deps.random.uuid(),
    workspaceId: engine.workspace.id,
    mode: 'test',
    family: 'evm',
    networks: ['ethereum'],
    kind: 'xpub',
    materialId: material,
    createdAt: 1,
    disabledAt: null,
  })
  const [nobodys, another] = await engine.deps.wallets.addressesAt(material, [23, 22])
  if (nobodys === undefined || another === undefined) throw new Error('no derived address')
  ;({ hash: unmatchedHash, id: unmatchedId } = await pay(nobodys, 'c', 7_000_000n, 300))
  rejected = await pay(another, '7', 7_000_000n, 320)
})

/** A confirmed transfer under a transaction id made of one digit. */
async function pay(to: { matchKey: string; address: string }, digit: string, amountBase: bigint, height: number) {
  const hash = `0x${digit.repeat(64)}`
  const block = blockWith(height, engine.deps.clock.now(), to, [{ key: `test:ethereum:${hash}:0`, amountBase }])
  const transfers = block.transfers.map((transfer) => ({ ...transfer, txHash: hash }))
  await recordBlockTransfers(engine.deps, { ...scope, blocks: [{ ...block, transfers }] })
  await confirmPayments(engine.deps, { ...scope, height: height + 9, finalizedHeight: null })
  const [stored] = await engine.deps.payments.findByKeys([`test:ethereum:${hash}:0`])
  return { hash, id: stored?.id ?? '' }
}

async function paidInvoice(digit: string, height: number) {
  const invoice = await engine.open({ asset: 'usdt_ethereum' })
  const amountBase = invoice.state.paymentMethods[0]?.quotes[0]?.amountBase ?? 0n
  const { hash, id } = await pay(paymentMethodOf(invoice), digit, amountBase, height)
  await advanceInvoice(engine.deps, invoice.terms.id)
  for (let shard = 0; shard < 8; shard += 1) await createOutboxRelay(engine.deps).relayShard(shard)
  return { invoice, hash, paymentId: id }
}

describe('explaining', () => {
  it('says of a transaction that it counted, on which invoice and why', async () => {
    const { invoice, hash } = await paidInvoice('a', 400)
    for (const q of [hash, hash.toUpperCase().replace('0X', '0x'), hash.slice(2)]) {
      const answer = await ana.caller.diagnostics.explain({ ...ana.at, q })
      expect(answer).toMatchObject({ verdict: 'counted', tone: 'good', invoice: { id: invoice.terms.id } })
      expect(answer.checks.map(({ ok }) => ok)).not.toContain(false)
    }
  })

  it('answers for a number, an address, an id and for nothing at all', async () => {
    const { invoice } = await paidInvoice('b', 500)
    const address = paymentMethodOf(invoice).address
    for (const q of [`#${invoice.terms.number}`, invoice.terms.id, address, address.toLowerCase()]) {
      const answer = await ana.caller.diagnostics.explain({ ...ana.at, q })
      expect(answer).toMatchObject({ verdict: 'invoice_paid', invoice: { id: invoice.terms.id } })
    }
    const nothing = await ana.caller.diagnostics.explain({ ...ana.at, q: '<script>alert(1)</script>' })
    expect(nothing).toMatchObject({ verdict: 'not_found', invoice: null })
    const unknown = await ana.caller.diagnostics.explain({ ...ana.at, q: 'f'.repeat(64) })
    expect(unknown).toMatchObject({ verdict: 'not_found', looked: ['ethereum'] })
    // A network that could not be checked is not said to lack the transaction.
    expect(unknown.sentence).toMatch(/^Ethereum could not be checked\. /)
  })

  // Guarantee: what belongs to another workspace is told to nobody else.
  it('tells strangers nothing', async () => {
    const { invoice, hash } = await paidInvoice('d', 600)
    const stranger = await adminCaller(stores, { email: 'eve@example.com' })
    const questions = [hash, invoice.terms.id, paymentMethodOf(invoice).address, unmatchedHash]
    for (const q of questions) {
      const answer = await stranger.caller.diagnostics.explain({ ...stranger.at, q })
      expect(['not_yours', 'not_found']).toContain(answer.verdict)
      expect(answer).toMatchObject({ invoice: null, transfer: null })
      // A transaction that this installation stored for others reads as one that it never saw.
      if (q === hash || q === unmatchedHash) {
        const unknown = await stranger.caller.diagnostics.explain({ ...stranger.at, q: `0x${'f'.repeat(64)}` })
        expect({ ...answer, tookMs: 0 }).toEqual({ ...unknown, tookMs: 0 })
      }
      expect(JSON.stringify(answer)).not.toContain(engine.workspace.id)
      expect(JSON.stringify(answer)).not.toContain(`#${invoice.terms.number}`)
    }
  })
})

describe('money that nobody asked for', () => {
  // Guarantee: two operators at once give it to one invoice, once.
  it('is attached to one invoice, shown before it is done', async () => {
    const answer = await ana.caller.diagnostics.explain({ ...ana.at, q: unmatchedHash })
    expect(answer).toMatchObject({ verdict: 'unmatched' })
    expect(answer.next.map(({ kind }) => kind)).toContain('attach')
    const invoice = await engine.open({ asset: 'usdt_ethereum' })
    const request = { ...ana.at, paymentId: unmatchedId, invoiceId: invoice.terms.id }
    expect(await ana.caller.payments.previewAttach(request)).toMatchObject({ status: 'paid', changed: true })
    expect((await engine.deps.invoices.findById(invoice.terms.id))?.state.status).toBe('pending')
    const luis = await adminCaller(stores, {
      workspaceId: engine.workspace.id,
      role: 'support',
      email: 'l@example.com',
    })
    const reason = 'the customer showed the transaction'
    const results = await Promise.all(
      [ana, luis].map(({ caller }) => caller.payments.attach({ ...request, reason, opId: engine.deps.random.uuid() })),
    )
    expect(results.filter(({ changed }) => changed)).toHaveLength(1)
    for (let shard = 0; shard < 8; shard += 1) await createOutboxRelay(engine.deps).relayShard(shard)
    const operations = await engine.deps.audits.listBySubject(invoice.terms.id)
    expect(operations.filter(({ action }) => action === 'invoice.funds_accepted')).toMatchObject([
      { detail: { reason } },
    ])
  })

  // Guarantee: who rejects money returns it. Another person can apply it only after stating that it was not returned.
  it('and was rejected by one person is applied by another one only knowingly', async () => {
    const { hash, id: paymentId } = rejected
    const op = () => ({ opId: engine.deps.random.uuid(), reason: 'the customer asked for it' })
    const invoice = await engine.open({ asset: 'usdt_ethereum' })
    const { workspaceId } = ana.at
    const luis = await adminCaller(stores, { workspaceId, role: 'support', email: 'luis@example.com' })
    const request = { ...luis.at, paymentId, invoiceId: invoice.terms.id }
    expect(await luis.caller.payments.previewAttach(request)).toMatchObject({ rejected: null })
    // Between the preview and the decision.
    const exceptionId = `unmatched:test:ethereum:${hash}:0:${workspaceId}`
    await ana.caller.exceptions.reject({ ...ana.at, ...op(), id: exceptionId })
    const refusal = luis.caller.payments.attach({ ...request, ...op() })
    await expect(refusal).rejects.toMatchObject({
      code: 'CONFLICT',
      message: expect.stringMatching(/^ana@example.com rejected this payment at .* returned to the customer/),
    })
    const statusNow = async () => (await engine.deps.invoices.findById(invoice.terms.id))?.state.status
    expect(await statusNow()).toBe('pending')
    expect(await luis.caller.payments.previewAttach(request)).toMatchObject({ rejected: { by: 'ana@example.com' } })
    await luis.caller.payments.attach({ ...request, ...op(), notReturned: true })
    expect(await statusNow()).toBe('paid')
  })
})
