import { beforeAll, describe, expect, it } from 'vitest'
import { EXCEPTIONS } from '#shared/db/exceptions/exception-model.ts'
import { INVOICES } from '#shared/db/invoices/invoice-model.ts'
import { advanceInvoice } from '#shared/usecases/invoices/advance-invoice.ts'
import { createOutboxRelay } from '#shared/usecases/outbox/relay.ts'
import { confirmPayments, recordBlockTransfers } from '#shared/usecases/payments/record-payments.ts'
import { adminCaller } from '#test/support/admin.ts'
import { sampleInvoice } from '#test/support/db-samples.ts'
import { blockWith, type Engine, openEngine, paymentMethodOf } from '#test/support/engine.ts'
import { useStores } from '#test/support/stores.ts'

const stores = useStores()
const scope = { mode: 'test', network: 'ethereum', epoch: 1 } as const
let engine: Engine
const late = new Map<string, string>()

beforeAll(async () => {
  engine = await openEngine(stores)
  await latePayments(['evidence', 'two-operators', 'notes', 'foreign'])
})

const people = (email: string, role: 'support' | 'viewer' = 'support') =>
  adminCaller(stores, { workspaceId: engine.workspace.id, role, email })
const op = () => engine.deps.random.uuid()

async function relay(): Promise<void> {
  for (let shard = 0; shard < 8; shard += 1) await createOutboxRelay(engine.deps).relayShard(shard)
}

/** Expired invoices whose money came hours late, confirmed: their entries wait in the inbox. */
async function latePayments(names: readonly string[]): Promise<void> {
  const invoices = []
  for (const _ of names) invoices.push(await engine.open({ asset: 'usdt_ethereum' }))
  engine.advance(3 * 3_600_000)
  await engine.setCursor(100, engine.deps.clock.now())
  for (const [index, name] of names.entries()) {
    const invoice = invoices[index]
    if (invoice === undefined) throw new Error('no invoice')
    const { id } = invoice.terms
    await advanceInvoice(engine.deps, id)
    const amountBase = invoice.state.paymentMethods[0]?.quotes[0]?.amountBase ?? 0n
    const block = blockWith(100 + index, engine.deps.clock.now(), paymentMethodOf(invoice), [{ key: name, amountBase }])
    await recordBlockTransfers(engine.deps, { ...scope, blocks: [block] })
    late.set(name, id)
  }
  await confirmPayments(engine.deps, { ...scope, height: 200, finalizedHeight: null })
  for (const id of late.values()) await advanceInvoice(engine.deps, id)
  await relay()
}

describe('the inbox', () => {
  it('shows the rule beside the fact, and what the money is worth', async () => {
    const exceptionId = 'late:evidence'
    const { caller, at } = await people('ana@example.com', 'viewer')
    const { items } = await caller.exceptions.list(at)
    expect(items.map(({ id }) => id)).toContain(exceptionId)
    const known = await caller.exceptions.get({ ...at, id: exceptionId })
    expect(known.ways).toEqual(['accepted'])
    expect(known.entry.sentence).toMatch(/USDT arrived .* after expiry/)
    const rows = Object.fromEntries(known.evidence.map(({ check, ok }) => [check, ok]))
    expect(rows).toMatchObject({ Amount: true, 'First seen': false, Confirmations: true })
    expect(known.worth).toMatchObject({ currency: 'USD' })
    const counts = await caller.exceptions.counts(at)
    expect(counts.money).toBeGreaterThan(0)
    expect(counts.kinds).toContainEqual({ kind: 'late', title: 'Late payment', count: expect.any(Number) })
    expect(counts.kinds.reduce((sum, { count }) => sum + count, 0)).toBe(counts.all)
    await expect(
      caller.exceptions.accept({ ...at, id: exceptionId, opId: op(), reason: 'fine' }),
    ).rejects.toMatchObject({
      code: 'FORBIDDEN',
    })
  })

  // Money: the workspace's spread is in both values, so a market that stood still makes no difference.
  it('compares the price of the quote with the same price of now', async () => {
    const id = late.get('evidence') ?? ''
    const [quote] = (await engine.deps.invoices.findById(id))?.state.paymentMethods[0]?.quotes ?? []
    if (quote === undefined) throw new Error('no quote')
    const spread = { 'paymentMethods.0.quotes.0.fiatPerAsset': '0.99' }
    await stores.db
      .collection(INVOICES)
      .updateOne({ _id: id }, { $set: { ...spread, 'paymentMethods.0.quotes.0.provenance.spreadBps': 100 } })
    await stores.db.connection.collection('rate_snapshots').updateMany({}, { $set: { at: new Date() } })
    const { caller, at } = await people('ana@example.com', 'viewer')
    const { worth } = await caller.exceptions.get({ ...at, id: 'late:evidence' })
    expect(worth).toEqual({ currency: 'USD', atQuote: '24.75', now: '24.75', difference: '0.00' })
  })

  // Guarantee: of two operators at once one decides, the money counts once, and the other is told who did it.
  it('lets one of two operators accept a late payment, and says so to the other', async () => {
    const exceptionId = 'late:two-operators'
    const invoiceId = late.get('two-operators') ?? ''
    const [ana, luis] = await Promise.all([people('ana@example.com'), people('luis@example.com')])
    const reason = 'Customer paid from a slow exchange.'
    const request = (opId: string) => ({ ...ana.at, id: exceptionId, opId, reason })
    const [anaOp, luisOp] = [op(), op()]
    const results = await Promise.allSettled([
      ana.caller.exceptions.accept(request(anaOp)),
      luis.caller.exceptions.accept(request(luisOp)),
    ])
    const won = results.findIndex(({ status }) => status === 'fulfilled')
    expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
    const winner = won === 0 ? 'ana@example.com' : 'luis@example.com'
    const again = won === 0 ? luis.caller : ana.caller
    await expect(again.exceptions.accept(request(won === 0 ? luisOp : anaOp))).rejects.toMatchObject({
      code: 'CONFLICT',
      message: expect.stringMatching(`^${winner} accepted this at .* No changes were made\\.$`),
    })
    // The answer was lost: the same action again is no conflict.
    const same = won === 0 ? ana.caller : luis.caller
    const repeated = await same.exceptions.accept(request(won === 0 ? anaOp : luisOp))
    expect(repeated.resolved).toMatchObject({ by: winner, resolution: 'accepted', reason })

    await relay()
    expect((await engine.deps.invoices.findById(invoiceId))?.state.status).toBe('paid')
    const operations = await engine.deps.audits.listBySubject(invoiceId)
    expect(operations.filter(({ action }) => action === 'invoice.funds_accepted')).toMatchObject([
      { actor: `user:${winner}`, detail: { reason } },
    ])
    expect(await engine.deps.audits.listBySubject(exceptionId)).toMatchObject([{ action: 'exception.accepted' }])
    const resolved = await ana.caller.exceptions.list({ ...ana.at, view: 'resolved' })
    expect(resolved.items.find(({ id }) => id === exceptionId)?.resolved?.by).toBe(winner)
  })

  // Guards money: only the bulk decision refused this before, and the page did not offer it.
  it('about money is not marked as resolved without a decision about the money', async () => {
    const { caller, at } = await people('ana@example.com')
    await expect(caller.exceptions.close({ ...at, id: 'late:notes', opId: op() })).rejects.toMatchObject({
      code: 'CONFLICT',
      message: expect.stringContaining('decision about money'),
    })
    expect(await stores.db.collection(EXCEPTIONS).findOne({ _id: 'late:notes' })).toMatchObject({ closedAt: null })
  })

  it('stays open when accepting is refused, and takes notes, once each', async () => {
    const exceptionId = 'late:notes'
    const { caller, at } = await people('ana@example.com')
    const note = { ...at, id: exceptionId, opId: op(), text: '<script>alert(1)</script>' }
    await caller.exceptions.note(note)
    expect((await caller.exceptions.note(note)).notes).toHaveLength(1)
    const elsewhere = { ...at, id: exceptionId, opId: op(), reason: 'wrong button', invoiceId: op() }
    await expect(caller.exceptions.attach(elsewhere)).rejects.toMatchObject({ code: 'CONFLICT' })
    const rejected = await caller.exceptions.reject({ ...at, id: exceptionId, opId: op(), reason: 'sent back' })
    expect(rejected).toMatchObject({ resolved: { resolution: 'rejected' } })
    expect(rejected.closedAt).not.toBeNull()
  })

  // Guarantee: an entry of another workspace is unknown, whoever asks.
  it('knows nothing of other workspaces', async () => {
    const exceptionId = 'late:foreign'
    const stranger = await adminCaller(stores, { role: 'owner' })
    const one = { ...stranger.at, id: exceptionId }
    const request = { ...one, opId: op(), reason: 'mine now' }
    await expect(stranger.caller.exceptions.get(one)).rejects.toMatchObject({ code: 'NOT_FOUND' })
    await expect(stranger.caller.exceptions.accept(request)).rejects.toMatchObject({ code: 'NOT_FOUND' })
    expect((await stranger.caller.exceptions.list(stranger.at)).items).toEqual([])
  })

  // Guarantee: money of one workspace may concern an invoice of another, whose customer it never learns.
  it('withholds the customer of another workspace’s invoice', async () => {
    const exceptions = stores.db.collection(EXCEPTIONS)
    const late = await exceptions.findOne({ _id: 'late:evidence' })
    if (late === null) throw new Error('no exception')
    const { caller, at } = await people('ana@example.com', 'viewer')
    const rowOf = async (name: string, workspaceId: string) => {
      const invoice = sampleInvoice(engine.deps.random, { workspaceId, number: 77, at: engine.deps.clock.now() })
      await engine.deps.invoices.insert(invoice)
      const id = `late:${name}`
      await exceptions.insertOne({ ...late, _id: id, invoiceId: invoice.terms.id })
      const listed = (await caller.exceptions.list({ ...at, limit: 100 })).items.find((one) => one.id === id)
      const known = await caller.exceptions.get({ ...at, id })
      const answered = await people('luis@example.com').then((luis) =>
        luis.caller.exceptions.note({ ...luis.at, id, opId: op(), text: 'whose is it?' }),
      )
      return { listed, known, answered }
    }
    const theirs = await rowOf('theirs', 'another-workspace')
    expect(JSON.stringify(theirs)).not.toContain('payer@example.com')
    expect(theirs.listed).toMatchObject({ invoice: null })
    expect(theirs.known).toMatchObject({ invoice: null, entry: { invoice: null } })
    const own = await rowOf('own', engine.workspace.id)
    expect(own.listed).toMatchObject({ invoice: { customer: 'payer@example.com' } })
    expect(JSON.stringify(own.known.invoice)).toContain('payer@example.com')
  })
})
