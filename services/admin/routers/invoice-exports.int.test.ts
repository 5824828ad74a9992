import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import express from 'express'
import { beforeAll, describe, expect, it } from 'vitest'
import { exportPaymentsRoute } from '#services/admin/app.ts'
import { periodOf } from '#services/admin/wire/list-filters.ts'
import { advanceInvoice } from '#shared/usecases/invoices/advance-invoice.ts'
import { readInvoiceSearch } from '#shared/usecases/invoices/invoice-search.ts'
import { exportInvoices } from '#shared/usecases/reports/export-invoices.ts'
import { exportPayments } from '#shared/usecases/reports/export-payments.ts'
import { type AdminCaller, adminCaller } from '#test/support/admin.ts'
import { type Engine, openEngine } from '#test/support/engine.ts'
import { useStores } from '#test/support/stores.ts'

const stores = useStores()
let engine: Engine
let ana: AdminCaller
const HOSTILE = '=HYPERLINK("https://evil.example")\u202e<script>'

beforeAll(async () => {
  engine = await openEngine(stores)
  const workspaceId = engine.workspace.id
  ana = await adminCaller(stores, { workspaceId, role: 'admin', email: 'ana@example.com' })
})

const op = () => engine.deps.random.uuid()
const request = (fields: object = {}) => ({ amount: '20', currency: 'USD', ...fields })
const make = async (fields: object = {}) =>
  (await ana.caller.invoices.create({ ...ana.at, opId: op(), invoice: request(fields) })).id

describe('the export of payments', () => {
  async function lines(): Promise<readonly string[]> {
    const filters = { network: null, counted: null, createdFrom: null, createdTo: null }
    const scope = { workspaceId: engine.workspace.id, mode: 'test' as const, ...filters }
    let text = ''
    for await (const part of exportPayments({ ...ana.deps.money, reportingCurrency: 'USD' }, scope)) text += part
    return text.split('\r\n')
  }

  // Guarantee: no text of a merchant or customer becomes a formula in somebody's spreadsheet.
  it('carries the rate at lock, and hostile texts harmlessly', async () => {
    const id = await make({ asset: 'usdt_ethereum', order_id: HOSTILE })
    await ana.caller.invoices.simulate({ ...ana.at, id, opId: op(), scenario: 'paid' })
    await advanceInvoice(engine.deps, id)
    const [heading = '', ...rows] = await lines()
    const row = rows.find((line) => line.includes(id)) ?? ''
    expect(heading.split(',')).toEqual(
      expect.arrayContaining(['price_rate', 'received_value', 'market_value', 'counted', 'late']),
    )
    expect(row).toContain(`"'=HYPERLINK(""https://evil.example"")`)
    expect(row).toContain(',USD,20.00,20.00,20.00,0.00,')
    for (const line of rows) expect(line).not.toMatch(/(^|,)"?[=+@-]/)
  })

  it('is a file for those who may read the workspace, and nothing for others', async () => {
    const app = express()
    app.post('/export/payments.csv', express.text({ type: '*/*' }), exportPaymentsRoute(ana.deps))
    const server = createServer(app)
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const { port } = server.address() as AddressInfo
    const fields = `workspaceId=${engine.workspace.id}&mode=test`
    const post = (text: string) =>
      fetch(`http://127.0.0.1:${port}/export/payments.csv`, { method: 'POST', body: new URLSearchParams(text) })
    const [stranger, broken] = await Promise.all([post(fields), post(`${fields}x`)])
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
      expect([more, (await post(`${fields}${more}`)).status]).toEqual([more, 400])
    }
    await new Promise((resolve) => server.close(resolve))
  })
})

describe('the export of invoices', () => {
  type Filters = Partial<Parameters<typeof ana.caller.invoices.list>[0]>
  const rowsOf = async (filters: Filters) => {
    const {
      q = '',
      by = 'created',
      from = null,
      to = null,
      status = null,
      asset = null,
      source = null,
      flag = null,
    } = filters
    const search = q === '' ? null : readInvoiceSearch(ana.deps.money.guessAddress, 'test', q)
    const query = { ...ana.at, search, status, asset, source, flag, ...periodOf({ by, from, to }) }
    let text = ''
    for await (const part of exportInvoices({ ...ana.deps.money, reportingCurrency: 'USD' }, query)) text += part
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
        ...(['paid', 'confirmed', 'received'] as const).flatMap((by) => [
          { by, from: 1 },
          { by, to: 1 },
        ]),
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
    expect(cell('due_amount')).toBe(detail.coins?.due)
    expect(cell('received_amounts')).toBe(`${detail.coins?.confirmed} USDT on Ethereum`)
    expect([cell('price'), cell('received_value'), cell('short_value'), cell('excess_value')]).toEqual([
      ...['20.00', '20.00', '0.00', '0.00'],
    ])
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
