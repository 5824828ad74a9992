import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { HDNodeWallet } from 'ethers'
import mongoose from 'mongoose'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { AUDIT_LOG } from '#shared/db/audit/audit-model.ts'
import { migrate, verifyIndexes } from '#shared/db/schema/migrate.ts'
import { ADDRESSES, WALLETS } from '#shared/db/wallets/wallet-models.ts'
import { ADMIN_ORIGIN, openAdmin } from '#test/support/admin-http.ts'
import { openApi, type TestApi } from '#test/support/api.ts'
import { accountKey } from '#test/support/fresh-key.ts'
import { useStores } from '#test/support/stores.ts'

/** An answer that the former code gave, with the request that it was given to. */
interface FormerAnswer {
  readonly path: string
  readonly key: string
  readonly body: string
  readonly status: number
  readonly answer: string
}

/**
 * What commit f179a2e left in its database, dumped after requests to its real API and dashboard: keys of bytes 7 and 8, a wallet, a
 * session, and answers under idempotency keys.
 */
interface Fixture {
  readonly about: {
    readonly dumpedAt: Date
    readonly workspaceId: string
    readonly testKey: string
    readonly session: {
      readonly email: string
      readonly password: string
      readonly cookies: Readonly<Record<string, string>>
      readonly workspaceId: string
    }
    readonly wallet: { readonly id: string; readonly firstAddresses: readonly string[] }
    readonly answers: readonly FormerAnswer[]
  }
  readonly collections: Readonly<
    Record<string, { readonly indexes: { name: string; key: Record<string, 1 | -1> }[]; readonly documents: Stored[] }>
  >
}
type Stored = mongoose.mongo.Document

const { about, collections } = mongoose.mongo.BSON.EJSON.parse(
  readFileSync(join(import.meta.dirname, '../fixtures/commit-f179a2e.json'), 'utf8'),
) as Fixture

/** Moves every time in a document, as if the dump were of now: sessions and stored answers end with time. */
function moved(value: unknown, byMs: number): unknown {
  if (value instanceof Date) return new Date(value.getTime() + byMs)
  if (Array.isArray(value)) return value.map((item) => moved(item, byMs))
  if (value === null || typeof value !== 'object' || Object.getPrototypeOf(value) !== Object.prototype) return value
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, moved(item, byMs)]))
}

const byMs = Date.now() - about.dumpedAt.getTime()
const stores = useStores({ migrated: false })
let api: TestApi
let admin: Awaited<ReturnType<typeof openAdmin>>

beforeAll(async () => {
  const native = stores.db.connection.getClient().db(stores.db.name)
  for (const [name, { indexes, documents }] of Object.entries(collections)) {
    if (indexes.length > 0) await native.collection(name).createIndexes(indexes)
    // A row of the audit trail is what was hashed.
    const rows = name === AUDIT_LOG.name ? documents : documents.map((document) => moved(document, byMs) as Stored)
    if (rows.length > 0) await native.collection(name).insertMany(rows)
  }
  await migrate(stores.db)
  await verifyIndexes(stores.db)
  api = await openApi(stores)
  admin = await openAdmin(stores)
})
afterAll(async () => {
  await admin.close()
  await api.close()
})

/** The account whose extended key is the wallet, and how many of its addresses a process of before had reserved for itself. */
const ACCOUNT = 77
const RESERVED = 16

/** The former answer with the one time that is read from the stored row, which was moved. */
function expectedAnswer({ path, answer }: FormerAnswer): string {
  if (path !== '/invoices') return answer
  const { created_at: createdAt } = JSON.parse(answer).data
  return answer.replace(
    `"created_at":"${createdAt}"`,
    `"created_at":"${new Date(Date.parse(createdAt) + byMs).toISOString()}"`,
  )
}

const post = ({ path, key, body }: Pick<FormerAnswer, 'path' | 'key' | 'body'>) =>
  api.call('POST', path, { key: about.testKey, body, headers: { 'idempotency-key': key } })

// Guarantee: a shop that repeats a request over an update gets the answer of before, and nothing happens twice.
it.each(about.answers.map((answer) => [answer.path.replace(/[0-9a-f-]{36}/, ':id'), answer] as const))(
  'an idempotency key of before replays its answer: POST %s',
  async (_path, former) => {
    const replayed = await post(former)
    expect([replayed.status, replayed.text]).toEqual([former.status, expectedAnswer(former)])
    const other = await post({
      ...former,
      body: former.body.replace(/}$/, `${former.body === '{}' ? '' : ','}"metadata":{"a":"b"}}`),
    })
    expect([other.status, other.json]).toMatchObject([409, { error: { code: 'IDEMPOTENCY_MISMATCH' } }])
  },
)

// Guarantee: an update gives out no address twice, and derives those of a key as the version before did.
it('a wallet of before goes on behind the last address that the version before had reserved', async () => {
  const [invoice] = about.answers
  const chain = HDNodeWallet.fromExtendedKey(accountKey(ACCOUNT)).deriveChild(0)
  const expected = Array.from({ length: 34 }, (_, index) => chain.deriveChild(index).address)
  expect(expected.slice(0, 3)).toEqual(about.wallet.firstAddresses)
  expect(JSON.parse(invoice?.answer ?? '').data.crypto.address).toBe(expected[0])
  const given: string[] = []
  for (const _one of [1, 2]) {
    const next = await post({ path: '/invoices', key: randomUUID(), body: invoice?.body ?? '' })
    expect(next.status).toBe(201)
    given.push((next.json as { data: { crypto: { address: string } } }).data.crypto.address)
  }
  const indexes = given.map((address) => expected.indexOf(address))
  expect(indexes[0]).toBeGreaterThanOrEqual(RESERVED)
  expect(indexes[1]).toBe((indexes[0] ?? 0) + 1)
  // The version before derived 32; these two are from the code of now.
  const derived = await stores.db
    .collection(ADDRESSES)
    .find({ mode: 'test', family: 'evm', index: { $in: [32, 33] } })
    .toArray()
  expect(derived.map(({ address }) => address)).toEqual(expect.arrayContaining(expected.slice(32)))
})

// Guarantee: nobody is logged out by an update, and nobody is let in whom the version before kept out.
it('a session of before is logged in, another token is not, and the password still opens', async () => {
  const { session } = about
  const at = { workspaceId: session.workspaceId, mode: 'test' }
  const browser = admin.browser()
  for (const [name, value] of Object.entries(session.cookies)) browser.jar.set(name, value)
  expect(await browser.query('workspace.get', at)).toMatchObject({ status: 200, data: { id: session.workspaceId } })
  const foreign = await browser.query('workspace.get', { ...at, workspaceId: about.workspaceId })
  expect(foreign.status).toBe(404)
  const forged = admin.browser()
  forged.jar.set('__Host-paymesh', 'A'.repeat(43))
  expect((await forged.query('workspace.get', at)).status).toBe(401)
  const fresh = admin.browser()
  const { email, password } = session
  expect((await fresh.mutate('auth.logIn', { email, password }, { origin: ADMIN_ORIGIN })).status).toBe(200)
  expect((await fresh.query('workspace.get', at)).status).toBe(200)
})

// Guarantee: an update takes no wallet from anybody, in an installation of one workspace and in one that gets a second.
it('a wallet of before, which has no proof, goes on when a second workspace comes', async () => {
  const wallets = stores.db.collection(WALLETS)
  const [former] = await wallets.find({ displacedAt: { $exists: false } }).toArray()
  expect(former).toMatchObject({ disabledAt: null })
  await api.newWorkspace()
  const [invoice] = about.answers
  const next = await post({ path: '/invoices', key: randomUUID(), body: invoice?.body ?? '' })
  expect(next.status).toBe(201)
  expect(await wallets.findOne({ _id: former?._id ?? '' })).toEqual(former)
})
