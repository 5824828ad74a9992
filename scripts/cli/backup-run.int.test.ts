import { execFile } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { AUDIT_LOG } from '#shared/db/audit/audit-model.ts'
import { createAuditRepository } from '#shared/db/audit/audit-repository.ts'
import { createVerifiedBackups } from '#shared/db/backup/verified-backups.ts'
import { INSTALLATION } from '#shared/db/installation/installation-model.ts'
import { RESTORE_FACT, writeRestoreState } from '#shared/db/restore/restore-state.ts'
import { deepDescribe, deepTest } from '#test/support/depth.ts'
import { openReconciliationStage } from '#test/support/reconciliation-stage.ts'
import { useStores } from '#test/support/stores.ts'

const stores = useStores()
const other = useStores()
const folder = mkdtempSync(join(tmpdir(), 'paymesh-run-'))
const keyFile = join(folder, 'backup.key')
const archives = join(folder, 'archives')
/** An archive that this installation made years ago. */
const OLD = 'paymesh-20200101T000000Z.backup'
beforeAll(async () => {
  await openReconciliationStage(stores)
  writeFileSync(keyFile, Buffer.alloc(32, 9).toString('base64'))
  mkdirSync(archives)
  writeFileSync(join(archives, OLD), 'bytes of long ago')
  const about = { action: 'backup.started' as const, subject: 'old', actor: 'cli:root', workspaceId: null, mode: null }
  await createAuditRepository(stores.db).insertMany([
    { id: 'backup.started:old', at: 0, ...about, detail: { file: OLD } },
  ])
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** The command line with the settings of a back-up container: neither Redis nor the pepper, nor the list of networks. */
function paymesh(
  args: readonly string[],
  { database = stores.database, masterKey = 7 } = {},
): Promise<{ readonly status: number; readonly out: string; readonly said: string }> {
  const env = {
    ...{ PATH: process.env['PATH'] ?? '', HOME: process.env['HOME'] ?? '', MONGO_URL: stores.mongoUrl },
    ...{ PAYMESH_MONGO_DATABASE: database, PAYMESH_ACCEPTED_RISKS: 'known-keys,http-urls' },
    PAYMESH_MASTER_KEY: Buffer.alloc(32, masterKey).toString('base64'),
  }
  return new Promise((resolve) =>
    execFile(
      process.execPath,
      ['scripts/paymesh.mjs', 'backup', ...args, '--key-file', keyFile],
      { env },
      (error, out, said) => resolve({ status: typeof error?.code === 'number' ? error.code : 0, out, said }),
    ),
  )
}

const latest = async () => await createVerifiedBackups(stores.db).latest()

describe('`backup run`', () => {
  it('makes an archive, verifies and records it, and removes old ones', async () => {
    expect(await latest()).toBeNull()
    const { status, out, said } = await paymesh(['run', archives, '--keep', '1', '--json'])
    expect(said).toContain('before compression')
    expect(status).toBe(0)
    const done = JSON.parse(out)
    expect(done).toMatchObject({ removed: [OLD], documents: expect.any(Number) })
    expect(readdirSync(archives)).toEqual([done.file.split('/').at(-1)])
    expect((await latest())?.takenAt).toBe(Date.parse(done.taken_at))
    const rows = await stores.db
      .collection(AUDIT_LOG)
      .find({ action: /^backup/, subject: { $ne: 'old' } })
      .sort({ at: 1 })
      .toArray()
    expect(rows.map(({ action }) => action)).toEqual(['backup.started', 'backup.ended', 'backup.verified'])
    expect(new Set(rows.map(({ subject }) => subject)).size).toBe(1)
  })

  // Guards data: a failure removes no archive and is no verified back-up.
  it('removes and records nothing when it fails', async () => {
    const [before, held] = [readdirSync(archives), await latest()]
    const wrongKey = await paymesh(['run', archives, '--keep', '1', '--keep-days', '1'], { masterKey: 8 })
    expect(wrongKey.status).toBe(1)
    expect(wrongKey.said).toMatch(/\d+ of \d+ sealed values cannot be opened: it is not recorded/)
    // The archive that could not be verified is none of those that count, are kept or are copied elsewhere.
    const added = readdirSync(archives).filter((name) => !before.includes(name))
    expect(added).toEqual([expect.stringMatching(/^paymesh-\w+\.backup\.unverified$/)])
    expect(readdirSync(archives)).toEqual(expect.arrayContaining(before))
    expect(await latest()).toEqual(held)
    const nowhere = await paymesh(['run', join(folder, 'missing')])
    expect([nowhere.status, nowhere.said]).toEqual([1, expect.stringContaining('ENOENT')])
    expect(await latest()).toEqual(held)
    expect((await paymesh(['run', archives, '--keep', '0'])).status).toBe(1)
  })
})

// Guarantee: half of an installation never becomes its newest verified back-up.
deepTest('refuses to back up what an interrupted restore left', async () => {
  const before = readdirSync(archives)
  const interrupted = { state: 'writing', takenAt: '2026-01-01T00:00:00.000Z', restoredAt: '', skip: 0 } as const
  await writeRestoreState(stores.db, interrupted)
  const { status, said } = await paymesh(['run', archives])
  expect([status, said]).toEqual([1, expect.stringContaining('a back-up of it would hold a part of the data only')])
  expect(readdirSync(archives)).toEqual(before)
  await stores.db.collection(INSTALLATION).deleteOne({ _id: RESTORE_FACT })
})

deepDescribe('`backup verify --record`', () => {
  it('records an archive of this installation, but none of another or of before', async () => {
    const file = join(folder, 'made.backup')
    await paymesh(['create', file])
    const newest = await latest()
    expect((await paymesh(['verify', file])).status).toBe(0)
    expect(await latest()).toEqual(newest)
    expect((await paymesh(['verify', file, '--record'])).status).toBe(0)
    const recorded = await latest()
    expect(recorded?.takenAt).toBeGreaterThan(newest?.takenAt ?? 0)
    const foreign = await paymesh(['verify', file, '--record'], { database: other.database })
    expect([foreign.status, foreign.said]).toEqual([1, expect.stringContaining('did not make the archive')])
    // An older archive does not replace a newer one.
    const [first] = readdirSync(archives).sort()
    expect((await paymesh(['verify', join(archives, first ?? ''), '--record'])).status).toBe(0)
    expect(await latest()).toEqual(recorded)
  })
})
