import { randomBytes } from 'node:crypto'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { fileTarget } from '#scripts/backup/archive-target.ts'
import { type RestoredBackup, restoreBackup } from '#scripts/backup/restore-backup.ts'
import { takeBackup } from '#scripts/backup/take-backup.ts'
import type { AdminDeps } from '#services/admin/assemble.ts'
import { type AttackWorld, openAttackWorld } from '#services/admin/attack-world.fixture.ts'
import { createAuditChainRepository } from '#shared/db/audit/audit-chain-repository.ts'
import { AUDIT_LOG } from '#shared/db/audit/audit-model.ts'
import { createRepositories } from '#shared/db/create-repositories.ts'
import { MAILS } from '#shared/db/mails/mail-model.ts'
import { takenBackOf } from '#shared/domain/marks/mark-fields.ts'
import { TAKEN_BACK, type TakenBackAction } from '#shared/domain/marks/taken-back.ts'
import type { Mark } from '#shared/ports/marks.ts'
import type { SecretBox } from '#shared/ports/secrets.ts'
import { createFolderMarkPlace } from '#shared/runtime/process/folder-mark-place.ts'
import type { ArchiveSecret } from '#shared/runtime/secrets/archive-cipher.ts'
import { createAuditKeys, createMarkKeys } from '#shared/runtime/secrets/audit-keys.ts'
import { createSecretBox } from '#shared/runtime/secrets/secret-box.ts'
import { extendAuditChain } from '#shared/usecases/audit/audit-chain.ts'
import { createAuditMarks } from '#shared/usecases/marks/audit-marks.ts'
import { createMarkKeeper } from '#shared/usecases/marks/keep-marks.ts'
import { writeMarks } from '#shared/usecases/marks/mark-records.ts'
import { adminCaller } from '#test/support/admin.ts'
import { makeStoreFolder } from '#test/support/store-folder.ts'
import { type TestStores, useStores } from '#test/support/stores.ts'
import { CUSTOMER, joinedAndRemoved, lastOwner, type PreparedStory, STORIES } from './taken-back-stories.ts'

const first = useStores()
const second = useStores({ migrated: false })
const third = useStores({ migrated: false })
const fourth = useStores({ migrated: false })
const folder = makeStoreFolder('paymesh-taken-back')
const file = join(folder, 'paymesh.backup')
const secret: ArchiveSecret = { kind: 'key', key: randomBytes(32) }
const markKeys = createMarkKeys(new Uint8Array(32).fill(7))
const place = createFolderMarkPlace(join(folder, 'marks'))
const actions = Object.keys(TAKEN_BACK) as TakenBackAction[]
const stories = new Map<TakenBackAction, PreparedStory>()
const roundabout: PreparedStory[] = []
let world: AttackWorld
let restored: RestoredBackup
/** The dashboard of the restored database, and of one that was restored without these marks. */
let after: AdminDeps
let naive: AdminDeps

const restoreInto = (stores: TestStores, places: readonly (typeof place)[], lostKey?: SecretBox) =>
  restoreBackup(
    {
      ...stores.runtime,
      ...{ db: stores.db, wallets: createRepositories(stores.db, stores.runtime).wallets },
      ...{
        addressBook: world.engine.addressBook,
        secretBox: lostKey ?? world.engine.secretBox,
        markPlaces: places,
        markKeys,
        auditKeys: createAuditKeys(new Uint8Array(32).fill(7)),
      },
    },
    {
      ...{ file, secret, actor: 'cli:test', skip: places.length === 0 ? 10 : null, quarantineMs: 0 },
      ...{ until: null, acceptUnreadable: lostKey !== undefined, onProgress: () => undefined },
    },
  )
/** What the maintenance process does each second: signs the rows, and records in the marks what was taken back. */
async function chainAudit(): Promise<void> {
  const { clock, installationLife } = world.boss.deps
  const auditChain = createAuditChainRepository(first.db)
  const auditMarks = createAuditMarks({ installationLife, markPlaces: [place], markKeys, auditChain })
  const deps = { auditChain, auditKeys: createAuditKeys(new Uint8Array(32).fill(7)), auditMarks, clock }
  expect(await extendAuditChain(deps, () => false)).toBeGreaterThan(0)
}
const life = () => world.boss.deps.installationLife.read()
const rowsOf = async ({ db }: TestStores) => (await db.collection(AUDIT_LOG).find().toArray()).map(AUDIT_LOG.toRecord)

beforeAll(async () => {
  world = await openAttackWorld(first)
  const { deps, workspaceId } = world.boss
  const keeper = createMarkKeeper({ ...deps, markPlaces: [place], markKeys })
  for (const action of actions) stories.set(action, await STORIES[action](world, first))
  for (const story of [joinedAndRemoved, lastOwner]) roundabout.push(await story(world, first))
  await keeper.run()
  await chainAudit()
  await takeBackup(first.db, {
    ...{ target: fileTarget(file), id: 'taken-back', secret, version: 'test' },
    onProgress: () => undefined,
  })
  for (const story of [...stories.values(), ...roundabout]) await story.act()
  await keeper.run()
  await chainAudit()
  restored = await restoreInto(second, [place])
  await restoreInto(third, [])
  after = (await adminCaller(second, { workspaceId })).deps
  naive = (await adminCaller(third, { workspaceId })).deps
}, 120_000)
afterAll(() => rmSync(folder, { recursive: true, force: true }))

// Guarantee: nothing that was taken back after the archive is given again by its restore.
describe.each(actions)('%s', (action) => {
  const story = () => {
    const found = stories.get(action)
    if (found === undefined) throw new Error(`${action} was not prepared`)
    return found
  }
  it('is given by the archive alone, and taken back again where marks hold the row', async () => {
    expect(await story().isGiven(naive)).toBe(true)
    expect(await story().isGiven(after)).toBe(false)
    expect(restored.takenBack).toContainEqual(expect.objectContaining({ action, outcome: 'applied' }))
    const rows = await rowsOf(second)
    expect(rows.filter((row) => row.action === action && row.detail['applied_again'] === true)).not.toEqual([])
  })
})

it('gives nobody a right that they lost by a way of the archive alone', async () => {
  expect(roundabout).toHaveLength(2)
  for (const { isGiven } of roundabout) expect([await isGiven(naive), await isGiven(after)]).toEqual([true, false])
})

it('leaves the erased customer’s name in no collection', async () => {
  const collectionsWith = async ({ db }: TestStores) => {
    const found: string[] = []
    for (const { name } of await db.connection.listCollections()) {
      const rows = await db.connection.collection(name).find().toArray()
      const text = rows.map((row) => JSON.stringify(row, plain)).join()
      if (text.includes(CUSTOMER.name) || text.includes(CUSTOMER.email)) found.push(name)
    }
    return found
  }
  expect(await collectionsWith(third)).toEqual(expect.arrayContaining(['invoices', 'events']))
  expect(await collectionsWith(second)).toEqual([])
})

/** Bytes as the text that they are. */
function plain(this: Record<string, unknown>, name: string, value: unknown): unknown {
  const raw = this[name]
  return typeof raw === 'object' && raw !== null && 'buffer' in raw
    ? Buffer.from(raw.buffer as Buffer).toString()
    : value
}

it('mails the people concerned, counts in the audit row, and writes each row once', async () => {
  const told = await second.db
    .collection(MAILS)
    .find({ _id: /:again(:\d+)?$/ })
    .toArray()
  expect(new Set(told.map(({ template }) => template))).toEqual(new Set(['account_changed', 'owner_notice']))
  const applied = restored.takenBack.filter(({ outcome }) => outcome === 'applied')
  const rows = await rowsOf(second)
  expect(rows.find(({ action }) => action === 'installation.restored')?.detail).toMatchObject({
    taken_back_again: applied.length,
  })
  expect(rows.filter(({ detail }) => detail['applied_again'] === true)).toHaveLength(applied.length)
})

it('names what the archive does not hold, and refuses a mark that cannot be read before it writes', async () => {
  const row = { id: 'gone', at: 5, actor: 'user:x', action: 'api_key.revoked', subject: 'nobody' }
  const mark = (change: object): Mark => {
    const detail = JSON.stringify({ ...row, workspaceId: null, mode: null, detail: {}, ...change })
    return { field: takenBackOf('gone'), value: 9_000, detail }
  }
  const sent = {
    id: 'sent',
    action: 'refund.sent',
    subject: 'an invoice',
    detail: { refund: 'r', transaction: '0xab' },
  }
  await writeMarks([place], await life(), [mark({}), { ...mark(sent), field: takenBackOf('sent') }], markKeys)
  const again = await restoreInto(fourth, [place])
  const gone = { action: 'api_key.revoked', subject: 'nobody', outcome: 'not in the archive', advice: null }
  expect(again.takenBack).toContainEqual(gone)
  // Money that left is named although the archive lacks its record.
  const refund = { action: 'refund.sent', subject: 'an invoice', outcome: 'not in the archive' }
  expect(again.takenBack).toContainEqual({ ...refund, advice: expect.stringContaining('do not send it again') })
  await fourth.db.connection.dropDatabase()
  const lost = await restoreInto(fourth, [place], createSecretBox(new Uint8Array(32).fill(9)))
  expect(lost.takenBack.length).toBe(again.takenBack.length)
  await fourth.db.connection.dropDatabase()
  await writeMarks([place], await life(), [{ ...mark({ action: 'api_key.made' }), value: 9_001 }], markKeys)
  await expect(restoreInto(fourth, [place])).rejects.toThrow('the mark taken-back:gone is signed and cannot be read')
  expect(await fourth.db.connection.listCollections()).toEqual([])
})
