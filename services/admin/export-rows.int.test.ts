import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { readdirSync, readFileSync } from 'node:fs'
import { createServer, type IncomingMessage, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import express from 'express'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { dayStarts } from '#shared/contracts/zone-days.ts'
import { AUDIT_LOG } from '#shared/db/audit/audit-model.ts'
import { WORKSPACES } from '#shared/db/workspaces/workspace-model.ts'
import { ADMIN_ORIGIN, openAdmin, PASSWORD } from '#test/support/admin-http.ts'
import { useStores } from '#test/support/stores.ts'
import { MEMBER_CHECK_MS } from './demand-member.ts'
import { exportRoute } from './export-route.ts'

const FORM = { 'content-type': 'application/x-www-form-urlencoded' }

const stores = useStores()
let admin: Awaited<ReturnType<typeof openAdmin>>
beforeAll(async () => {
  admin = await openAdmin(stores)
})
afterAll(() => admin.close())

const rowsNow = async () =>
  (
    await stores.db
      .collection(AUDIT_LOG)
      .find({ action: /^export\./ })
      .sort({ at: 1, action: -1 })
      .toArray()
  ).map(({ _id, actor, action, subject, workspaceId, mode, detail }) => ({
    _id,
    actor,
    action,
    subject,
    workspaceId,
    mode,
    detail,
  }))

/** The rows that `work` leaves. */
async function rowsOf(work: () => Promise<unknown>) {
  const before = new Set((await rowsNow()).map(({ _id }) => _id))
  await work()
  return (await rowsNow()).filter(({ _id }) => !before.has(_id))
}

async function loggedIn(role: 'owner' | 'viewer' = 'viewer') {
  const { email } = await admin.addPerson(`e${randomUUID()}@example.com`, role)
  const browser = admin.browser()
  expect((await browser.mutate('auth.logIn', { email, password: PASSWORD })).status).toBe(200)
  const cookie = [...browser.jar].map(([name, value]) => `${name}=${value}`).join('; ')
  const post = (path: string, fields: string) =>
    fetch(`${admin.url}/export/${path}`, {
      method: 'POST',
      body: form(fields),
      headers: { cookie, origin: ADMIN_ORIGIN },
    })
  return { email, post }
}

const form = (fields: string) => new URLSearchParams(fields)
const scope = () => `workspaceId=${admin.workspaceId}&mode=test`

// Guarantee: a file that lies in a folder for years says of which period, by which days and in which mode it is.
it.each(['America/Bogota', 'Asia/Kathmandu', 'Pacific/Apia', 'America/Sao_Paulo'])(
  'a file in %s is named by its period, the time that chose it, the zone and the mode',
  async (zone) => {
    const { post } = await loggedIn()
    await stores.db.collection(WORKSPACES).updateOne({ _id: admin.workspaceId }, { $set: { 'policy.timeZone': zone } })
    const place = zone.replace('/', '-')
    const [november, second, december] = dayStarts(['2025-11-01', '2025-11-02', '2025-12-01'], zone)
    const nameOf = async (path: string, fields: string) => {
      const answer = await post(path, `${scope()}${fields}`)
      await answer.text()
      return answer.headers.get('content-disposition')
    }
    const month = `&from=${november}&to=${december}`
    const named = (name: string) => `attachment; filename="${name}_${place}_test.csv"`
    const names = [
      await nameOf('invoices.csv', `${month}&by=paid`),
      await nameOf('payments.csv', month),
      await nameOf('ledger.csv', `${month}&profile=koinly`),
      await nameOf('settlements.csv', `&from=${november}&to=${second}`),
      await nameOf('settlements.csv', `&to=${december}`),
    ]
    expect(names).toEqual([
      named('invoices_2025-11_paid'),
      named('payments_2025-11_created'),
      named('ledger_koinly_2025-11'),
      named('settlements_2025-11-01_2025-11-01'),
      named('settlements_until-2025-11-30'),
    ])
  },
)

describe.each(['invoices', 'payments'] as const)('an export of %s', (what) => {
  // Guarantee: data that leaves as a file leaves a trace of who took how much of what.
  it('leaves who, what, the filters, and how many rows, each time', async () => {
    const { email, post } = await loggedIn()
    const filter = what === 'invoices' ? 'status=paid' : 'network=ethereum'
    for (const _time of [1, 2]) {
      let lines = 0
      const rows = await rowsOf(async () => {
        const answer = await post(`${what}.csv`, `${scope()}&${filter}&from=1`)
        expect(answer.status).toBe(200)
        lines = (await answer.text()).trimEnd().split('\r\n').length - 1
      })
      const common = { actor: `user:${email}`, workspaceId: admin.workspaceId, mode: 'test' }
      expect(rows).toMatchObject([
        {
          ...common,
          action: 'export.started',
          detail: { what, from: 1, [filter.split('=')[0] ?? '']: filter.split('=')[1] },
        },
        { ...common, action: 'export.ended', detail: { what, rows: lines, complete: true } },
      ])
      expect(rows[0]?.subject).toBe(rows[1]?.subject)
    }
  })

  it('leaves nothing when it is refused', async () => {
    const { post } = await loggedIn()
    const rows = await rowsOf(async () => {
      expect((await fetch(`${admin.url}/export/${what}.csv`, { method: 'POST', body: form(scope()) })).status).toBe(401)
      expect((await post(`${what}.csv`, `workspaceId=${randomUUID()}&mode=test`)).status).toBe(404)
      expect((await post(`${what}.csv`, `${scope()}&unknown=1`)).status).toBe(400)
    })
    expect(rows).toEqual([])
  })

  // Guarantee: without its row no data leaves; a store that refuses it shows as a connection that breaks.
  it('hands over no byte when its row cannot be stored', async () => {
    const { post } = await loggedIn()
    const record = vi.spyOn(admin.deps.exports, 'record').mockRejectedValueOnce(new Error('the store is away'))
    const got = await post(`${what}.csv`, `${scope()}`).then(
      async (answer) => await answer.text(),
      () => 'broken off',
    )
    record.mockRestore()
    expect(got).toBe('broken off')
  })

  it('breaks off when the row about its end cannot be stored, so that the file never looks whole', async () => {
    const { post } = await loggedIn()
    const { record } = admin.deps.exports
    const spy = vi
      .spyOn(admin.deps.exports, 'record')
      .mockImplementation(async (row) =>
        row.action === 'export.ended' ? Promise.reject(new Error('the store is away')) : record(row),
      )
    const answer = await post(`${what}.csv`, `${scope()}`)
    const outcome = await answer.text().then(
      () => 'whole',
      () => 'broken off',
    )
    spy.mockRestore()
    expect(outcome).toBe('broken off')
  })
})

it('counts the rows that were handed over', async () => {
  const { email } = await admin.addPerson(`e${randomUUID()}@example.com`, 'support')
  const browser = admin.browser()
  await browser.mutate('auth.logIn', { email, password: PASSWORD })
  const at = { workspaceId: admin.workspaceId, mode: 'test' }
  for (const amount of ['20', '21', '22']) {
    const made = await browser.mutate('invoices.create', {
      ...{ ...at, opId: randomUUID() },
      invoice: { amount, currency: 'USD', order_id: 'EXP-1' },
    })
    expect(made.status).toBe(200)
  }
  const { post } = await loggedIn()
  const rows = await rowsOf(async () => {
    await (await post('invoices.csv', `${scope()}&q=EXP-1`)).text()
  })
  expect(rows[1]?.detail).toEqual({ what: 'invoices', rows: 3, complete: true })
})

it('keeps what somebody typed into a search out of the audit trail', async () => {
  const { post } = await loggedIn()
  const rows = await rowsOf(async () => {
    await (await post('invoices.csv', `${scope()}&q=carla%40example.com`)).text()
  })
  expect(rows[0]?.detail).toEqual({ what: 'invoices', by: 'created', searched: true })
  expect(JSON.stringify(rows)).not.toContain('carla')
})

// Guarantee: what somebody searched for stands in no URL, and no other site makes a browser of ours take a file.
it('takes its filters in a body, from pages of ours', async () => {
  const { email } = await admin.addPerson(`e${randomUUID()}@example.com`, 'viewer')
  const browser = admin.browser()
  await browser.mutate('auth.logIn', { email, password: PASSWORD })
  const cookie = [...browser.jar].map(([name, value]) => `${name}=${value}`).join('; ')
  const send = async (path: string, init: RequestInit & { readonly headers?: Record<string, string> }) =>
    (await fetch(`${admin.url}/export/${path}`, { ...init, headers: { cookie, ...init.headers } })).status
  const posted = { method: 'POST', body: form(scope()) }
  const rows = await rowsOf(async () => {
    expect(await send(`invoices.csv?${scope()}`, {})).toBe(405)
    expect(await send(`invoices.csv?${scope()}`, { method: 'POST', headers: { origin: ADMIN_ORIGIN } })).toBe(400)
    expect(await send('invoices.csv', { ...posted, headers: { origin: 'https://evil.example' } })).toBe(403)
    expect(await send('invoices.csv', { ...posted, headers: { origin: 'null' } })).toBe(403)
    expect(await send('invoices.csv', { ...posted, headers: { 'sec-fetch-site': 'cross-site' } })).toBe(403)
  })
  expect(rows).toEqual([])
})

// Guarantee: a stranger's broken form costs little and learns nothing about the program.
it.each([
  ['too large', 413, 'application/x-www-form-urlencoded', 'q='.padEnd(9_000, 'x')],
  ['of an unknown character set', 415, 'application/x-www-form-urlencoded; charset=utf-99', 'q=x'],
])('refuses a form that is %s in a sentence', async (_what, status, type, body) => {
  const answer = await fetch(`${admin.url}/export/invoices.csv`, {
    method: 'POST',
    body,
    headers: { 'content-type': type },
  })
  const text = await answer.text()
  expect([answer.status, text]).toEqual([status, 'The export request is invalid.'])
  expect(answer.headers.get('cache-control')).toBe('no-store')
})

// Guarantee: a stranger's form is read once, however many fields it has: 8 KB of them took the process 0.6 s.
it('reads a form of thousands of fields once', async () => {
  const all = vi.spyOn(URLSearchParams.prototype, 'getAll')
  const answer = await fetch(`${admin.url}/export/invoices.csv`, {
    method: 'POST',
    body: 'a&'.repeat(4_096),
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
  })
  expect(answer.status).toBe(400)
  expect(all.mock.calls.length).toBe(0)
  all.mockRestore()
})

// Guarantee: a new export cannot be added beside the one that records.
it('is the one way in which tables leave the dashboard', () => {
  const folder = join(import.meta.dirname)
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter(
    (name) => name.endsWith('.ts') && !name.endsWith('.test.ts'),
  )
  const writesTables = files.filter((name) =>
    /text\/csv|attachment;|Content-Disposition/i.test(readFileSync(join(folder, name), 'utf8')),
  )
  expect(writesTables).toEqual(['export-route.ts'])
  const routes = readFileSync(join(folder, 'app.ts'), 'utf8').match(/'\/export\/[^']+', (\w+)\(/g) ?? []
  expect(routes.map((route) => /, (\w+)\(/.exec(route)?.[1])).toEqual([
    'exportPaymentsRoute',
    'exportInvoicesRoute',
    'exportLedgerRoute',
    'exportSettlementsRoute',
  ])
})

describe('a file that is read slowly', () => {
  // Guarantee: a thief who takes no further part of a file gives its place back once the owner logged everybody out.
  it('gives its place back when its session ends, although its reader stands still', async () => {
    const { id, email } = await admin.addPerson(`still${randomUUID()}@example.com`)
    const browser = admin.browser()
    await browser.logIn(email)
    const cookie = [...browser.jar].map(([name, value]) => `${name}=${value}`).join('; ')
    const noFilters = { what: 'zeros', filters: {} }
    const lines = async function* () {
      for (;;) yield '0'.repeat(65_536)
    }
    const app = express()
      .use(express.text({ type: 'application/x-www-form-urlencoded' }))
      .post('/', exportRoute(admin.deps, { ...noFilters, lines }))
    const server = createServer(app).listen(0, '127.0.0.1')
    await once(server, 'listening')
    vi.useFakeTimers({ toFake: ['setInterval'] })
    const { port } = server.address() as AddressInfo
    const reader = request({ port, host: '127.0.0.1', method: 'POST', headers: { cookie, ...FORM } })
    reader.on('error', () => undefined).end(scope())
    const [answer] = (await once(reader, 'response')) as [IncomingMessage]
    answer.on('error', () => undefined)
    const enter = () => admin.deps.budgets.enter('export', id)
    enter()
    expect(enter).toThrow()
    await browser.mutate('auth.logOut')
    vi.advanceTimersByTime(MEMBER_CHECK_MS)
    await vi.waitFor(() => enter()())
    vi.useRealTimers()
    server.close()
  })
})
