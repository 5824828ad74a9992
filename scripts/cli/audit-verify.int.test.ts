import { execFile } from 'node:child_process'
import { beforeEach, describe, expect, it } from 'vitest'
import { createAuditRepository } from '#shared/db/audit/audit-repository.ts'
import { createRepositories } from '#shared/db/create-repositories.ts'
import { AUDIT } from '#shared/domain/marks/mark-fields.ts'
import { createRedisMarkPlace } from '#shared/queues/redis-mark-place.ts'
import { createAuditKeys, createMarkKeys } from '#shared/runtime/secrets/audit-keys.ts'
import { extendAuditChain } from '#shared/usecases/audit/audit-chain.ts'
import { createAuditMarks } from '#shared/usecases/marks/audit-marks.ts'
import { auditParts } from '#test/support/audit-parts.ts'
import { runCommand } from '#test/support/run-command.ts'
import { useStores } from '#test/support/stores.ts'
import { actorName } from './session/actor.ts'

const stores = useStores()
const KEYS = createAuditKeys(new Uint8Array(32).fill(7))
const rows = () => stores.db.connection.collection<{ _id: string; seq?: number }>('audit_log')
const facts = () => stores.db.connection.collection<{ _id: string; value?: string }>('installation')

async function insert(...numbers: readonly number[]): Promise<void> {
  const [workspaceId, mode] = [null, null]
  const at = 1_800_000_000_000
  await createAuditRepository(stores.db).insertMany(
    numbers.map((n) => ({
      ...{ id: `row-${n}`, at: at + n, actor: 'cli:ada', action: 'golive.master_key_stated', subject: `thing-${n}` },
      ...{ workspaceId, mode, detail: {} },
    })),
  )
}
const marks = () =>
  createAuditMarks({
    ...createRepositories(stores.db, stores.runtime),
    markPlaces: [createRedisMarkPlace(stores.redis)],
    markKeys: createMarkKeys(new Uint8Array(32).fill(7)),
  })
const chain = () => extendAuditChain(auditParts(stores, KEYS, marks()), () => false)

interface Verdict {
  readonly status: number
  readonly text: string
}

function settings(): Readonly<Record<string, string>> {
  const secret = (byte: number) => Buffer.alloc(32, byte).toString('base64')
  return {
    ...{ MONGO_URL: stores.mongoUrl, REDIS_URL: stores.redisUrl },
    ...{ PAYMESH_MONGO_DATABASE: stores.database, PAYMESH_REDIS_PREFIX: stores.prefix },
    ...{ PAYMESH_MASTER_KEY: secret(7), PAYMESH_KEY_PEPPER: secret(8) },
    PAYMESH_ACCEPTED_RISKS: 'known-keys,http-urls',
  }
}

async function verify(...args: readonly string[]): Promise<Verdict> {
  const { status, stdout } = await runCommand(['audit', 'verify', ...args], settings())
  return { status, text: stdout }
}

/** The same as a script runs it. */
function verifyAsProcess(): Promise<Verdict> {
  const env = { PATH: process.env['PATH'] ?? '', HOME: process.env['HOME'] ?? '', ...settings() }
  return new Promise((resolve) =>
    execFile(process.execPath, ['scripts/paymesh.mjs', 'audit', 'verify'], { env }, (error, stdout) =>
      resolve({ status: typeof error?.code === 'number' ? error.code : 0, text: stdout }),
    ),
  )
}

const forgetMark = async () => {
  const record = await createRepositories(stores.db, stores.runtime).installationLife.read()
  const place = createRedisMarkPlace(stores.redis)
  await place.remove(record, await place.read(record, [AUDIT]))
}
const acknowledge = (reason: string) => runCommand(['audit', 'acknowledge-break', '--reason', reason], settings())

beforeEach(async () => {
  await rows().deleteMany({})
  await facts().deleteMany({ _id: { $regex: '^audit-' } as never })
  await forgetMark()
  await insert(1, 2, 3, 4, 5)
  await chain()
})

// Guarantee: a script that runs the command learns by its status that the trail was touched, and a person where.
describe('paymesh audit verify', () => {
  it('ends with 0 on a sound trail, counts rows that wait, and names the last row to record elsewhere', async () => {
    await insert(6)
    const { status, text } = await verify()
    expect([status, text]).toEqual([0, expect.stringContaining('Audit log intact: 5 rows verified.')])
    expect(text).toContain('1 rows are not in the chain yet')
    expect(text).toMatch(/pass it to --since next time: 5:[0-9a-f]{64}$/m)
  })

  it.each([
    ['changed', () => rows().updateOne({ seq: 3 }, { $set: { actor: 'cli:eve' } })],
    ['removed', () => rows().deleteOne({ seq: 3 })],
    [
      'moved',
      async () => {
        await rows().updateOne({ seq: 3 }, { $set: { seq: 99 } })
        await rows().updateOne({ seq: 4 }, { $set: { seq: 3 } })
        await rows().updateOne({ seq: 99 }, { $set: { seq: 4 } })
      },
    ],
    [
      'inserted in the place of another one',
      async () => {
        const third = await rows().findOne({ seq: 3 })
        await rows().updateMany({ seq: { $gte: 3 } }, { $inc: { seq: 100 } })
        await rows().updateMany({ seq: { $gte: 100 } }, { $inc: { seq: -99 } })
        await rows().insertOne({ ...third, _id: 'row-eve', seq: 3 })
      },
    ],
  ])('ends with 1 at the first row that was %s', async (_what, tamper) => {
    await tamper()
    const { status, text } = await verify('--json')
    expect(status).toBe(1)
    expect(JSON.parse(text)).toMatchObject({ intact: false, checked: 2, first_break: { seq: 3 } })
  })

  it('ends with 1 when rows at the end are gone', async () => {
    await rows().deleteMany({ seq: { $gte: 4 } })
    const broken = { status: 1, text: expect.stringContaining('Audit log broken after 3 valid rows.') }
    expect(await verifyAsProcess()).toEqual(broken)
  })

  it('ends with 1 when no row is signed, whatever else was removed with the signatures', async () => {
    await rows().updateMany({}, { $unset: { mac: '', keyId: '' } } as never)
    await facts().deleteMany({ _id: { $regex: '^audit-' } as never })
    await forgetMark()
    expect(await verify()).toMatchObject({
      status: 1,
      text: expect.stringContaining('Row 1 (row-1) carries no signature'),
    })
  })

  it('ends with 1 when rows were cut off and the signed end was put back, which the mark in Redis shows', async () => {
    const earlier = await facts().findOne({ _id: 'audit-head' })
    await insert(6, 7)
    await chain()
    const [, recorded = ''] = /--since next time: (\S+)$/m.exec((await verify()).text) ?? []
    await rows().deleteMany({ seq: { $gt: 5 } })
    await facts().updateOne({ _id: 'audit-head' }, { $set: { value: earlier?.value ?? '' } })
    const words = 'The audit log ends with row 5, but number 7 was recorded outside of the store.'
    expect(await verify()).toMatchObject({ status: 1, text: expect.stringContaining(words) })
    // The limit: who controls store and mark puts both back. A row that was recorded elsewhere shows it.
    await forgetMark()
    expect((await verify()).status).toBe(0)
    expect((await verify('--since', recorded)).status).toBe(1)
  })
})

// Guarantee: somebody who can write to the store cannot make an account that nobody made.
describe('documents without an audit row', () => {
  it('end verification with 1 by their names, until they are removed or acknowledged', async () => {
    const users = stores.db.connection.collection<{ _id: string }>('users')
    await users.insertOne({ _id: 'thief', email: 'thief@example.com' } as never, { bypassDocumentValidation: true })
    const found = await verify()
    expect(found).toMatchObject({ status: 1, text: expect.stringContaining('\n  user:thief') })
    expect((await acknowledge('made by hand')).stdout).toContain('Accepted without an audit row: user:thief')
    expect((await verify()).status).toBe(0)
    await users.insertOne({ _id: 'thief-2', email: 'thief2@example.com' } as never, { bypassDocumentValidation: true })
    expect((await verify()).status).toBe(1)
    await users.deleteMany({ _id: { $in: ['thief', 'thief-2'] } })
    expect((await verify()).status).toBe(0)
  })
})

describe('paymesh audit acknowledge-break', () => {
  it('stores the answer as a row, and verification then passes and lists it', async () => {
    await rows().updateOne({ seq: 3 }, { $set: { actor: 'cli:eve' } })
    expect((await verify()).status).toBe(1)
    const { status, stdout } = await acknowledge('our own repair, ticket 12')
    expect([status, stdout]).toEqual([
      0,
      expect.stringContaining('3 rows are accepted as they stand; 1 of them do not fit.'),
    ])
    const after = await verify()
    expect([after.status, after.text]).toEqual([0, expect.stringContaining('Reason: our own repair, ticket 12')])
    expect(await rows().findOne({ seq: 6 })).toMatchObject({
      ...{ action: 'audit.break_acknowledged', actor: actorName() },
      detail: { kind: 'changed', seq: 3, rows: 3, misfits: 1, reason: 'our own repair, ticket 12' },
    })
  })

  it('refuses where nothing is broken, and an empty reason', async () => {
    const nothing = await acknowledge('just so')
    expect([nothing.status, nothing.stderr]).toEqual([1, expect.stringContaining('there is nothing to acknowledge')])
    await rows().updateOne({ seq: 3 }, { $set: { actor: 'cli:eve' } })
    expect((await acknowledge(' ')).status).toBe(1)
    expect(await rows().countDocuments({ action: 'audit.break_acknowledged' })).toBe(0)
  })
})
