import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import express from 'express'
import { beforeAll, describe, expect, it } from 'vitest'
import { advanceInvoice } from '#shared/usecases/invoices/advance-invoice.ts'
import { readInvoiceSearch } from '#shared/usecases/invoices/invoice-search.ts'
import { eraseCustomer, sweepErasures } from '#shared/usecases/maintenance/erase-customer.ts'
import { createOutboxRelay } from '#shared/usecases/outbox/relay-outbox.ts'
import { submitRefundAddress } from '#shared/usecases/refunds/submit-refund-address.ts'
import { exportInvoices } from '#shared/usecases/reports/export-invoices.ts'
import { exportPayments } from '#shared/usecases/reports/export-payments.ts'
import { type AdminCaller, adminCaller } from '#test/support/admin.ts'
import { type Engine, openEngine } from '#test/support/engine.ts'
import { useStores } from '#test/support/stores.ts'
import { exportPaymentsRoute } from '../export-payments.ts'

const stores = useStores()
let engine: Engine
let ana: AdminCaller
let luis: AdminCaller
const HOSTILE = '=HYPERLINK("https://evil.example")\u202e<script>'

beforeAll(async () => {
  engine = await openEngine(stores)
  const workspaceId = engine.workspace.id
  ana = await adminCaller(stores, { workspaceId, role: 'admin', email: 'ana@example.com' })
  luis = await adminCaller(stores, { workspaceId, role: 'support', email: 'luis@example.com' })
})

const op = () => engine.deps.random.uuid()
const wish = (fields: object = {}) => ({ amount: '20', currency: 'USD', ...fields })
const make = async (fields: object = {}) =>
  (await ana.caller.invoices.create({ ...ana.at, opId: op(), invoice: wish(fields) })).id

async function relay(): Promise<void> {
  for (let shard = 0; shard < 8; shard += 1) await createOutboxRelay(engine.deps).relayShard(shard)
}

describe('invoices by hand', () => {
  it('are made once however often the deed is sent, and noted', async () => {
    const deed = { ...ana.at, opId: op(), invoice: wish({ asset: 'usdt_ethereum', order_id: 'LUM-1' }) }
    const [first, second] = await Promise.all([ana.caller.invoices.create(deed), ana.caller.invoices.create(deed)])
    expect(second).toEqual(first)
    const other = { ...deed, invoice: wish({ amount: '21' }) }
    await expect(ana.caller.invoices.create(other)).rejects.toMatchObject({ code: 'CONFLICT' })
    await relay()
    const known = await ana.caller.invoices.get({ ...ana.at, id: first.id })
    expect(known).toMatchObject({ source: 'manual', status: 'pending', orderId: 'LUM-1', may: { cancel: null } })
    const deeds = await engine.deps.audits.listBySubject(first.id)
    expect(deeds).toMatchObject([{ action: 'invoice.created', actor: 'user:ana@example.com' }])
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
      /@example\.com cancelled this at .* Nothing was done twice\./,
    )
    await relay()
    const deeds = await engine.deps.audits.listBySubject(id)
    expect(deeds.filter(({ action }) => action === 'invoice.cancelled')).toHaveLength(1)
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
        'invoice.paid',
        expect.stringContaining('ana@example.com'),
        expect.stringContaining('detected'),
      ]),
    )
    expect([...story].sort((a, b) => b.at - a.at).map(({ at }) => at)).toEqual(story.map(({ at }) => at))
    // Both are of the moment of creation: what came first is told last.
    const of = (title: string) => story.findIndex((entry) => entry.title === title)
    expect(of('invoice.created')).toBeGreaterThan(of('invoice.pending'))
    expect(of('invoice.pending')).toBeGreaterThan(-1)
    const known = await ana.caller.invoices.get({ ...ana.at, id })
    expect(known.sentence).toMatch(/^Paid in full\. .* confirmed in 1 payment\. Nothing is awaited\.$/)
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
    const deed = { ...ana.at, id, opId: op(), amount: '5.5', reason: 'returned one' }
    const asked = await luis.caller.invoices.openRefund(deed)
    expect(await luis.caller.invoices.openRefund(deed)).toEqual(asked)
    expect(asked).toMatchObject({ status: 'asked', symbol: 'USDT', amount: '5.5' })
    const token = asked.link?.split('/r/')[1] ?? ''
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

    const record = { ...ana.at, refundId: asked.id, opId: op(), txHash: 'not a hash' }
    await expect(ana.caller.invoices.recordRefund(record)).rejects.toMatchObject({ code: 'BAD_REQUEST' })
    const txHash = `0x${'ab'.repeat(32)}`
    const results = await Promise.all([
      ana.caller.invoices.recordRefund({ ...record, txHash }),
      luis.caller.invoices.recordRefund({ ...record, opId: op(), txHash: txHash.toUpperCase().replace('0X', '0x') }),
    ])
    expect(results.map(({ status }) => status)).toEqual(['sent', 'sent'])
    const deeds = await engine.deps.audits.listBySubject(id)
    expect(deeds.filter(({ action }) => action.startsWith('refund.')).map(({ action }) => action)).toEqual([
      'refund.asked',
      'refund.address_given',
      'refund.sent',
    ])
  })
})

describe('erasing a customer', () => {
  // Guarantee: after the deed no answer of ours names the customer; what a delivery may still need goes once it is over.
  it('empties the invoice at once and the bodies of events when their deliveries are over', async () => {
    const customer = { email: 'erase-me@correo.example', name: 'María Peralta' }
    const id = await make({ customer })
    await relay()
    const bodies = async () =>
      (await engine.deps.events.listByInvoice(id)).map(({ body }) => Buffer.from(body).toString('utf8')).join()
    expect(await bodies()).toContain(customer.email)
    const deed = { ...ana.at, id, opId: op(), reason: 'asked by letter' }
    await expect(luis.caller.invoices.eraseCustomer(deed)).rejects.toMatchObject({ code: 'FORBIDDEN' })
    const erased = await ana.caller.invoices.eraseCustomer(deed)
    expect(erased.customer).toEqual({ email: null, name: null })
    expect(await bodies()).toContain(customer.email)
    await ana.caller.invoices.eraseCustomer(deed)

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
    const deeds = await engine.deps.audits.listBySubject(id)
    const rows = deeds.filter(({ action }) => action === 'invoice.customer_erased')
    expect(rows).toHaveLength(1)
    expect(JSON.stringify(rows)).not.toMatch(/correo|María/)
    await expect(
      eraseCustomer(deps, { ...ana.at, invoiceId: op(), opId: op(), actor: 'user:x', reason: null }),
    ).rejects.toMatchObject({ code: 'NOT_FOUND' })
  })
})

describe('the export of payments', () => {
  async function lines(): Promise<readonly string[]> {
    const filters = { network: null, counted: null, from: null, to: null }
    const scope = { workspaceId: engine.workspace.id, mode: 'test' as const, ...filters }
    let text = ''
    for await (const part of exportPayments(ana.deps.money, scope)) text += part
    return text.split('\r\n')
  }

  // Guarantee: no text of a merchant or customer becomes a formula in somebody's spreadsheet.
  it('carries the rate at lock, and hostile texts harmlessly', async () => {
    const id = await make({ asset: 'usdt_ethereum', order_id: HOSTILE })
    await ana.caller.invoices.simulate({ ...ana.at, id, opId: op(), scenario: 'paid' })
    await advanceInvoice(engine.deps, id)
    const [heading = '', ...rows] = await lines()
    const row = rows.find((line) => line.includes(id)) ?? ''
    expect(heading.split(',')).toEqual(expect.arrayContaining(['rate_at_lock', 'fiat_at_lock', 'counted', 'late']))
    expect(row).toContain(`"'=HYPERLINK(""https://evil.example"")`)
    expect(row).toMatch(/,1,USD,20\.\d\d,20\.00,/)
    for (const line of rows) expect(line).not.toMatch(/(^|,)"?[=+@-]/)
  })

  it('is a file for those who may read the workspace, and nothing for others', async () => {
    const app = express()
    app.get('/export/payments.csv', exportPaymentsRoute(ana.deps))
    const server = createServer(app)
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const { port } = server.address() as AddressInfo
    const url = `http://127.0.0.1:${port}/export/payments.csv?workspaceId=${engine.workspace.id}&mode=test`
    const [stranger, broken] = await Promise.all([fetch(url), fetch(`${url}x`)])
    expect([stranger.status, broken.status]).toEqual([401, 400])
    // Guarantee: a filter that is not understood gives no file, so that no file holds more than was asked for.
    for (const more of [
      '&status=paid',
      '&network=nowhere',
      '&from=',
      '&from=1e99',
      '&counted=maybe',
      '&network=a&network=b',
    ]) {
      expect([more, (await fetch(`${url}${more}`)).status]).toEqual([more, 400])
    }
    await new Promise((resolve) => server.close(resolve))
  })
})

describe('the export of invoices', () => {
  type Filters = Partial<Parameters<typeof ana.caller.invoices.list>[0]>
  const rowsOf = async (filters: Filters) => {
    const { q = '', from = null, to = null, status = null, asset = null, source = null, flag = null } = filters
    const search = q === '' ? null : readInvoiceSearch(ana.deps.money.guessAddress, 'test', q)
    const query = { ...ana.at, search, status, asset, source, flag, createdFrom: from, createdTo: to }
    let text = ''
    for await (const part of exportInvoices(ana.deps.money, query)) text += part
    const [heading = '', ...lines] = text.trimEnd().split('\r\n')
    return { heading: heading.split(','), lines }
  }
  const listed = async (filters: Filters) => {
    const { items } = await ana.caller.invoices.list({ ...ana.at, ...filters, limit: 100 })
    return items.map(({ id }) => id)
  }

  // Guarantee: the file holds the rows of the list, unpaid ones as well, in its order.
  it('holds what the list shows under each filter', async () => {
    const orderId = `EXP-${op()}`
    await make({ order_id: orderId })
    const paid = await make({ asset: 'usdt_ethereum', order_id: orderId })
    await ana.caller.invoices.simulate({ ...ana.at, id: paid, opId: op(), scenario: 'paid' })
    await advanceInvoice(engine.deps, paid)
    const filters: readonly Filters[] = [
      ...[{}, { q: orderId }, { status: 'new' }, { status: 'paid' }, { asset: 'usdt_ethereum' }, { source: 'manual' }],
      ...[
        { source: 'api' },
        { flag: 'late' },
        { q: orderId, status: 'paid' },
        { from: Date.now() + 60_000 },
        { to: 1 },
      ],
    ] as const
    for (const filter of filters) {
      const ids = (await rowsOf(filter)).lines.map((line) => line.split(',')[0])
      expect({ filter, ids }).toEqual({ filter, ids: await listed(filter) })
    }
    expect((await rowsOf({ q: orderId })).lines).toHaveLength(2)
    const { heading, lines } = await rowsOf({ q: paid })
    const cell = (name: string) => lines[0]?.split(',')[heading.indexOf(name)]
    const detail = await ana.caller.invoices.get({ ...ana.at, id: paid })
    expect(cell('crypto_amount_due')).toBe(detail.coins?.due)
    expect(cell('crypto_amount_confirmed')).toBe(detail.coins?.confirmed)
    expect(cell('paid_at')).toBe(new Date(detail.paidAt ?? 0).toISOString())
  })

  // Guarantee: no text of a merchant or customer becomes a formula in somebody's spreadsheet.
  it('carries hostile texts harmlessly', async () => {
    const id = await make({
      order_id: HOSTILE,
      description: '@SUM(1) "now"',
      customer: { name: '+1', email: 'a@b.example' },
    })
    const { lines } = await rowsOf({ q: id })
    for (const line of lines) expect(line).not.toMatch(/(^|,)"?[=+@-]/)
    expect(lines.join()).toContain(`"'@SUM(1)`)
  })
})
