import { beforeAll, describe, expect, it } from 'vitest'
import { EXCEPTIONS } from '#shared/db/exceptions/exception-model.ts'
import { INVOICES } from '#shared/db/invoices/invoice-model.ts'
import { eraseCustomer, sweepErasures } from '#shared/usecases/maintenance/erase-customer.ts'
import { createOutboxRelay } from '#shared/usecases/outbox/relay.ts'
import { submitRefundAddress } from '#shared/usecases/refunds/submit-refund-address.ts'
import { type AdminCaller, adminCaller } from '#test/support/admin.ts'
import { deepTest } from '#test/support/depth.ts'
import { type Engine, openEngine } from '#test/support/engine.ts'
import { useStores } from '#test/support/stores.ts'

const stores = useStores()
let engine: Engine
let ana: AdminCaller
let luis: AdminCaller

beforeAll(async () => {
  engine = await openEngine(stores)
  const workspaceId = engine.workspace.id
  ana = await adminCaller(stores, { workspaceId, role: 'admin', email: 'ana@example.com' })
  luis = await adminCaller(stores, { workspaceId, role: 'support', email: 'luis@example.com' })
})

const op = () => engine.deps.random.uuid()
const request = (fields: object = {}) => ({ amount: '20', currency: 'USD', ...fields })
const make = async (fields: object = {}) =>
  (await ana.caller.invoices.create({ ...ana.at, opId: op(), invoice: request(fields) })).id

async function relay(): Promise<void> {
  for (let shard = 0; shard < 8; shard += 1) await createOutboxRelay(engine.deps).relayShard(shard)
}

describe('invoices by hand', () => {
  it('are made once however often the action is sent, and recorded', async () => {
    const action = { ...ana.at, opId: op(), invoice: request({ asset: 'usdt_ethereum', order_id: 'LUM-1' }) }
    const [first, second] = await Promise.all([ana.caller.invoices.create(action), ana.caller.invoices.create(action)])
    expect(second).toEqual(first)
    const other = { ...action, invoice: request({ amount: '21' }) }
    await expect(ana.caller.invoices.create(other)).rejects.toMatchObject({ code: 'CONFLICT' })
    await relay()
    const known = await ana.caller.invoices.get({ ...ana.at, id: first.id })
    expect(known).toMatchObject({ source: 'manual', status: 'pending', orderId: 'LUM-1', may: { cancel: null } })
    const operations = await engine.deps.audits.listBySubject(first.id)
    expect(operations).toMatchObject([{ action: 'invoice.created', actor: 'user:ana@example.com' }])
  })

  it('are found by number, order, e-mail, address and id, and counted by status', async () => {
    const id = await make({ asset: 'usdt_ethereum', order_id: 'LUM-77', customer: { email: 'm@correo.example' } })
    const { number, receiving } = await ana.caller.invoices.get({ ...ana.at, id })
    for (const q of [id, `#${number}`, String(number), 'LUM-77', 'm@correo.example', receiving?.address ?? '']) {
      const { items } = await ana.caller.invoices.list({ ...ana.at, q })
      expect(items.map((row) => row.id)).toContain(id)
    }
    expect((await ana.caller.invoices.list({ ...ana.at, q: 'nothing like it' })).items).toEqual([])
    const { byStatus } = await ana.caller.invoices.counts(ana.at)
    expect(byStatus.pending).toBeGreaterThan(0)
  })

  it('are found by a name in the letters that a keyboard has, and by the name itself', async () => {
    const id = await make({ customer: { name: 'Łukasz Sørensen' } })
    for (const q of ['lukasz', 'Łukasz', 'sorensen ŁUK', 'Sørensen', 'Łukasz Sørensen']) {
      const { items } = await ana.caller.invoices.list({ ...ana.at, q })
      expect([q, items.map((row) => row.id)]).toEqual([q, [id]])
    }
  })

  it('are listed in pages without gaps, also under filters that no index serves', async () => {
    for (let index = 0; index < 5; index += 1) await make()
    for (const filter of [{}, { source: 'manual' as const }]) {
      const seen: string[] = []
      let cursor: string | undefined
      do {
        const page = await ana.caller.invoices.list({ ...ana.at, ...filter, limit: 2, ...(cursor && { cursor }) })
        seen.push(...page.items.map(({ id }) => id))
        cursor = page.nextCursor ?? undefined
      } while (cursor !== undefined)
      expect(new Set(seen).size).toBe(seen.length)
      expect(seen.length).toBeGreaterThanOrEqual(7)
    }
    expect((await ana.caller.invoices.list({ ...ana.at, source: 'api' })).items).toEqual([])
  })

  // Guarantee: two operators who cancel at once cancel once, and one row of the audit trail says who.
  it('are cancelled once by two operators', async () => {
    const id = await make()
    const results = await Promise.allSettled([
      ana.caller.invoices.cancel({ ...ana.at, id, opId: op(), reason: 'typing error' }),
      luis.caller.invoices.cancel({ ...luis.at, id, opId: op(), reason: 'double order' }),
    ])
    expect(results.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected'])
    const refusal = results.find(({ status }) => status === 'rejected')
    expect(String((refusal as PromiseRejectedResult).reason)).toMatch(
      /@example\.com cancelled this at .* No changes were made\./,
    )
    await relay()
    const operations = await engine.deps.audits.listBySubject(id)
    expect(operations.filter(({ action }) => action === 'invoice.cancelled')).toHaveLength(1)
    const events = await engine.deps.events.listByInvoice(id)
    expect(events.filter(({ type }) => type === 'invoice.cancelled')).toHaveLength(1)
  })

  it('tell their story, newest first, with who did what', async () => {
    const id = await make({ asset: 'usdt_ethereum' })
    await ana.caller.invoices.simulate({ ...ana.at, id, opId: op(), scenario: 'paid' })
    await relay()
    const story = await ana.caller.invoices.timeline({ ...ana.at, id })
    expect(story.map(({ title }) => title)).toEqual(
      expect.arrayContaining([
        'Paid',
        'Payer chose USDT on Ethereum',
        expect.stringContaining('ana@example.com'),
        expect.stringContaining('detected'),
      ]),
    )
    expect([...story].sort((a, b) => b.at - a.at).map(({ at }) => at)).toEqual(story.map(({ at }) => at))
    // Both are of the moment of creation: what came first is told last.
    const of = (title: string) => story.findIndex((entry) => entry.title === title)
    expect(of('Invoice created')).toBeGreaterThan(of('Payer chose USDT on Ethereum'))
    expect(of('Payer chose USDT on Ethereum')).toBeGreaterThan(-1)
    const known = await ana.caller.invoices.get({ ...ana.at, id })
    expect(known.sentence).toMatch(/^Paid in full\. (\S+) of \1 USDT confirmed in 1 payment\.$/)
    expect(known.flags).toContain('simulated')
  })

  // Guarantee: an invoice of another workspace, or of the other mode, is unknown.
  it('are unknown to others', async () => {
    const id = await make()
    const stranger = await adminCaller(stores)
    await expect(stranger.caller.invoices.get({ ...stranger.at, id })).rejects.toMatchObject({ code: 'NOT_FOUND' })
    const cancel = { ...stranger.at, id, opId: op() }
    await expect(stranger.caller.invoices.cancel(cancel)).rejects.toMatchObject({ code: 'NOT_FOUND' })
    const live = { ...ana.at, mode: 'live' as const, id }
    await expect(ana.caller.invoices.get(live)).rejects.toMatchObject({ code: 'NOT_FOUND' })
  })
})

describe('a refund record', () => {
  it('asks the customer for an address by a link and takes the transaction, each once', async () => {
    const id = await make({ asset: 'usdt_ethereum' })
    await ana.caller.invoices.simulate({ ...ana.at, id, opId: op(), scenario: 'paid' })
    const action = { ...ana.at, id, opId: op(), amount: '5.5', reason: 'returned one' }
    const answer = await luis.caller.invoices.openRefund(action)
    expect(await luis.caller.invoices.openRefund(action)).toEqual(answer)
    expect(answer).toMatchObject({ status: 'requested', symbol: 'USDT', amount: '5.5' })
    const token = answer.link?.split('/r/')[1] ?? ''
    const stored = await stores.db.connection.collection('refunds').findOne({ invoiceId: id })
    expect(JSON.stringify(stored)).not.toContain(token)

    const deps = ana.deps.money
    const bad = submitRefundAddress(deps, token, { address: '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAeD' })
    await expect(bad).rejects.toMatchObject({ code: 'VALIDATION_ERROR' })
    const address = '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed'
    expect(await submitRefundAddress(deps, token, { address })).toMatchObject({ status: 'addressed', address })
    expect(await submitRefundAddress(deps, token, { address })).toMatchObject({ address })
    const other = submitRefundAddress(deps, token, { address: '0xfB6916095ca1df60bB79Ce92cE3Ea74c37c5d359' })
    await expect(other).rejects.toMatchObject({ code: 'INVALID_STATE' })
    await expect(submitRefundAddress(deps, 'x'.repeat(43), { address })).rejects.toMatchObject({ code: 'NOT_FOUND' })

    const record = { ...ana.at, refundId: answer.id, opId: op(), txHash: 'not a hash' }
    await expect(ana.caller.invoices.recordRefund(record)).rejects.toMatchObject({ code: 'BAD_REQUEST' })
    const txHash = `0x${'ab'.repeat(32)}`
    const results = await Promise.all([
      ana.caller.invoices.recordRefund({ ...record, txHash }),
      luis.caller.invoices.recordRefund({ ...record, opId: op(), txHash: txHash.toUpperCase().replace('0X', '0x') }),
    ])
    expect(results.map(({ status }) => status)).toEqual(['sent', 'sent'])
    const operations = await engine.deps.audits.listBySubject(id)
    expect(operations.filter(({ action }) => action.startsWith('refund.')).map(({ action }) => action)).toEqual([
      'refund.requested',
      'refund.address_given',
      'refund.sent',
    ])
  })
})

describe('erasing a customer', () => {
  // Guarantee: after the action no answer of ours names the customer; what a delivery may still need goes once it is over.
  it('empties the invoice at once and the bodies of events when their deliveries are over', async () => {
    const customer = { email: 'erase-me@correo.example', name: 'María Peralta' }
    const id = await make({ customer })
    await relay()
    const bodies = async () =>
      (await engine.deps.events.listByInvoice(id)).map(({ body }) => Buffer.from(body).toString('utf8')).join()
    expect(await bodies()).toContain(customer.email)
    const action = { ...ana.at, id, opId: op(), reason: 'asked by letter' }
    await expect(luis.caller.invoices.eraseCustomer(action)).rejects.toMatchObject({ code: 'FORBIDDEN' })
    const erased = await ana.caller.invoices.eraseCustomer(action)
    expect(erased.customer).toEqual({ email: null, name: null })
    expect(await bodies()).toContain(customer.email)
    await ana.caller.invoices.eraseCustomer(action)

    let now = engine.deps.clock.now()
    const { eraser } = ana.deps.money
    const deps = { ...ana.deps.money, clock: { now: () => now } }
    expect(await sweepErasures(deps, 10)).toBe(0)
    now += 3 * 86_400_000
    expect(await sweepErasures({ eraser, clock: deps.clock }, 10)).toBe(1)
    expect(await sweepErasures(deps, 10)).toBe(0)
    expect(await bodies()).not.toContain('correo.example')
    expect(JSON.parse((await bodies()).split(',{"id"')[0] ?? '').data.object.customer).toEqual({
      email: null,
      name: null,
    })
    const operations = await engine.deps.audits.listBySubject(id)
    const rows = operations.filter(({ action }) => action === 'invoice.customer_erased')
    expect(rows).toHaveLength(1)
    expect(JSON.stringify(rows)).not.toMatch(/correo|María/)
    await expect(
      eraseCustomer(deps, { ...ana.at, invoiceId: op(), opId: op(), actor: 'user:x', reason: null }),
    ).rejects.toMatchObject({ code: 'NOT_FOUND' })
  })

  // Guarantee: what the team wrote about a person goes with that person's data, and the audit trail never had it.
  it('erases the texts of notes, and keeps who wrote them when', async () => {
    const id = await make({ customer: { email: 'note-me@correo.example', name: 'María' } })
    const note = { ...ana.at, id, opId: op(), text: 'María called: she paid from Binance' }
    const [first] = await ana.caller.invoices.addNote(note)
    expect(first).toMatchObject({ by: 'ana@example.com', text: note.text })
    expect(await ana.caller.invoices.addNote(note)).toHaveLength(1)
    await expect(luis.caller.invoices.addNote({ ...note, id: op(), opId: op() })).rejects.toMatchObject({
      code: 'NOT_FOUND',
    })
    const before = await ana.caller.invoices.get({ ...ana.at, id })
    expect(before.notes.map(({ text }) => text)).toEqual([note.text])
    const erased = await ana.caller.invoices.eraseCustomer({ ...ana.at, id, opId: op(), reason: 'asked by letter' })
    expect(erased.notes).toEqual([{ ...first, text: null }])
    expect(JSON.stringify(await engine.deps.audits.listBySubject(id))).not.toMatch(/María|Binance/)
    // A note that is written afterwards can be erased as well, though no name is left.
    await ana.caller.invoices.addNote({ ...note, opId: op(), text: 'María again' })
    const again = await ana.caller.invoices.eraseCustomer({ ...ana.at, id, opId: op(), reason: 'asked by letter' })
    expect(again.notes.map(({ text }) => text)).toEqual([null, null])
    // Notes change neither version nor announcements.
    expect(again.version).toBe(before.version)
  })

  it('erases the texts of notes on its exceptions, also on those that name only a transfer of it', async () => {
    const [id, other] = [await make({}), await make({})]
    const key = `test:ethereum:0x${op().replaceAll('-', '')}:log:1`
    const shared = { workspaceId: ana.at.workspaceId, mode: ana.at.mode, detail: 'late', openedAt: 1, closedAt: null }
    const ids = ['late', 'unmatched', 'other'].map((kind) => `${kind}:${key}`)
    const [ofInvoice = '', ofTransfer = '', ofOther = ''] = ids
    await engine.deps.exceptions.openOnce([
      { ...shared, id: ofInvoice, kind: 'late', invoiceId: id, paymentKey: key },
      { ...shared, id: ofTransfer, kind: 'unmatched', invoiceId: null, paymentKey: key },
      { ...shared, id: ofOther, kind: 'late', invoiceId: other, paymentKey: null },
    ])
    const row = {
      ...{ payment: key, version: 1, state: 'confirmed' as const, amountBase: '1', firstSeenAt: new Date() },
      ...{ counted: false, uncountedReason: 'unmatched' as const, acceptedBase: null, late: false, rateSeen: null },
      ...{ eligible: false, simulated: false, detected: true, confirmed: true, lateAnnounced: false },
    }
    await stores.db.collection(INVOICES).updateOne({ _id: id }, { $set: { ledger: [row] } })
    const text = 'María called: she paid from Binance'
    for (const about of ids) await ana.caller.exceptions.note({ ...ana.at, id: about, opId: op(), text })
    await ana.caller.invoices.eraseCustomer({ ...ana.at, id, opId: op(), reason: 'asked by letter' })
    const stored = await stores.db
      .collection(EXCEPTIONS)
      .find({ _id: { $in: ids } }, { sort: { _id: 1 } })
      .toArray()
    const texts = new Map(stored.map(({ _id, notes = [] }) => [_id, notes.map((note) => note.text)]))
    expect([texts.get(ofInvoice), texts.get(ofTransfer), texts.get(ofOther)]).toEqual([[null], [null], [text]])
    for (const about of ids)
      expect(JSON.stringify(await engine.deps.audits.listBySubject(about))).not.toMatch(/María|Binance/)
  })

  deepTest('takes fifty notes, and refuses the next one in a sentence', async () => {
    const id = await make({})
    const add = (text: string) => ana.caller.invoices.addNote({ ...ana.at, id, opId: op(), text })
    for (let count = 1; count <= 50; count += 1) expect(await add(`note ${count}`)).toHaveLength(count)
    await expect(add('one more')).rejects.toMatchObject({ cause: { code: 'INVALID_STATE' } })
    expect((await ana.caller.invoices.get({ ...ana.at, id })).notes).toHaveLength(50)
  })
})
