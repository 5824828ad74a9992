import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { ROOT } from '#scripts/bundle.mjs'
import { type AdminCaller, adminCaller } from '#test/support/admin.ts'
import { ADMIN_ORIGIN, openAdmin, PASSWORD } from '#test/support/admin-http.ts'
import { digestOf } from '#test/support/store-digest.ts'
import { useStores } from '#test/support/stores.ts'

const stores = useStores()
let admin: Awaited<ReturnType<typeof openAdmin>>
let alice: AdminCaller
let bob: AdminCaller
beforeAll(async () => {
  admin = await openAdmin(stores)
  alice = await adminCaller(stores, { stored: true, email: 'alice@example.com' })
  bob = await adminCaller(stores, { stored: true, email: 'bob@example.com' })
})
afterAll(() => admin.close())

/** Every file that the dashboard hands out, from its routes. */
const FILES = [
  ...readFileSync(join(ROOT, 'services/admin/app.ts'), 'utf8').matchAll(/app\.\w+\('(\/export\/[^']+)'/g),
].map(([, path = '']) => path)

/** A browser that this person logged in with. */
async function browserOf(email: string) {
  const browser = admin.browser()
  expect((await browser.mutate('auth.logIn', { email, password: PASSWORD })).status).toBe(200)
  const cookie = [...browser.jar].map(([name, value]) => `${name}=${value}`).join('; ')
  return async (path: string, fields: Readonly<Record<string, string>>) => {
    const body = new URLSearchParams(fields)
    const answer = await fetch(`${admin.url}${path}`, {
      method: 'POST',
      body,
      headers: { cookie, origin: ADMIN_ORIGIN },
    })
    const headers = [...answer.headers].filter(([name]) => name !== 'date').sort()
    return { status: answer.status, headers, text: await answer.text() }
  }
}

it('knows the files', () => {
  expect(FILES.toSorted()).toEqual([
    '/export/invoices.csv',
    '/export/ledger.csv',
    '/export/payments.csv',
    '/export/settlements.csv',
  ])
})

// Guarantee: a session of one workspace takes no line of another's as a file, and cannot find out which workspaces there are.
it.each(FILES)('%s of another workspace is answered as that of none, and leaves no row', async (path) => {
  const invoice = { amount: '20', currency: 'USD', order_id: 'A-1' } as const
  const made = await alice.caller.invoices.create({ ...alice.at, opId: randomUUID(), invoice })
  const get = await browserOf('bob@example.com')
  const before = await digestOf(stores)
  const unknown = await get(path, { workspaceId: randomUUID(), mode: 'test' })
  expect(unknown.status).toBe(404)
  for (const mode of ['test', 'live'])
    for (const more of [{}, { from: '1' }])
      expect(await get(path, { workspaceId: alice.workspaceId, mode, ...more })).toEqual(unknown)
  expect(await digestOf(stores)).toEqual(before)

  // With its own workspace the filters find nothing of others.
  const own = { workspaceId: bob.workspaceId, mode: 'test' }
  const empty = (await get(path, own)).text
  expect(empty.trimEnd().split('\r\n')).toHaveLength(1)
  if (path.includes('invoices')) {
    for (const q of [made.id, `#${made.number}`, 'A-1', randomUUID()])
      expect((await get(path, { ...own, q })).text).toBe(empty)
    const theirs = await browserOf('alice@example.com')
    expect((await theirs(path, { workspaceId: alice.workspaceId, mode: 'test', q: made.id })).text).toContain(made.id)
  }
})
