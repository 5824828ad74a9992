import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { BACKUP_LEASE } from '#scripts/backup/backup-lease.ts'
import { archiveName } from '#scripts/backup/prune-archives.ts'
import { checkBackup } from '#scripts/cli/doctor/check-backup.ts'
import { createAuditRepository } from '#shared/db/audit/audit-repository.ts'
import { createVerifiedBackups } from '#shared/db/backup/verified-backups.ts'
import { INSTALLATION } from '#shared/db/installation/installation-model.ts'
import { LEASES } from '#shared/db/installation/lease-model.ts'
import { backupAge } from '#shared/ports/verified-backups.ts'
import { deepDescribe, deepTest, sampleOf } from '#test/support/depth.ts'
import { keyed } from '#test/support/keyed.ts'
import { openReconciliationStage } from '#test/support/reconciliation-stage.ts'
import { type SlowProxy, startSlowProxy } from '#test/support/slow-proxy.ts'
import { makeStoreFolder } from '#test/support/store-folder.ts'
import { useStores } from '#test/support/stores.ts'

const WAIT = { timeout: 200_000, interval: 20 }
/** Several processes one after the other, each of which loads the whole command line. */
vi.setConfig({ testTimeout: 400_000 })
const HOUR_MS = 3_600_000
/** The payments have about three megabytes: at this speed reading them takes ten seconds. */
const SLOW = 300_000
const source = useStores()
const copy = useStores({ migrated: false })
const folder = makeStoreFolder('paymesh-schedule')
const keyFile = join(folder, 'backup.key')
const started: ReturnType<typeof spawn>[] = []
let archives: string
let proxy: SlowProxy

beforeAll(async () => {
  writeFileSync(keyFile, Buffer.alloc(32, 7).toString('base64'))
  await openReconciliationStage(source)
  await source.db.connection
    .collection<{ _id: string; [field: string]: unknown }>('payments')
    .insertMany(
      Array.from({ length: 3_000 }, (_, n) => ({ _id: `big-${n}`, ...keyed(`big-${n}`), noise: randomBytes(1_000) })),
    )
})
beforeEach(async () => {
  archives = mkdtempSync(join(folder, 'archives-'))
  proxy = await startSlowProxy(Number(new URL(source.mongoUrl).port))
  const facts = ['verified_backup', 'backup_attempt', 'backup_chain', 'backup_changes']
  await source.db.collection(INSTALLATION).deleteMany({ _id: { $in: facts } })
})
afterEach(async () => {
  for (const child of started.splice(0)) child.kill('SIGKILL')
  await proxy.close()
  await source.db.collection(LEASES).deleteMany({ _id: { $in: [BACKUP_LEASE, 'backup-changes'] } })
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** `paymesh backup …` as in its own container, through the proxy. */
function paymesh(args: readonly string[], { masterKey = 7, database = source.database } = {}) {
  const child = spawn(process.execPath, ['scripts/paymesh.mjs', 'backup', ...args, '--key-file', keyFile], {
    env: {
      ...{ PATH: process.env['PATH'] ?? '', HOME: process.env['HOME'] ?? '' },
      MONGO_URL: `mongodb://127.0.0.1:${proxy.port}/?directConnection=true`,
      ...{ PAYMESH_MONGO_DATABASE: database, PAYMESH_ACCEPTED_RISKS: 'known-keys,http-urls' },
      PAYMESH_MASTER_KEY: Buffer.alloc(32, masterKey).toString('base64'),
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  started.push(child)
  let said = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (part: Buffer) => {
      said += part.toString('utf8')
    })
  }
  const ended = once(child, 'close').then(([status, signal]) => ({ status, signal, said }))
  return { child, ended, said: () => said }
}

const backups = () => createVerifiedBackups(source.db)
/** What `paymesh doctor` says of back-ups in production; it throws for a fault. */
const doctor = () => checkBackup({ db: source.db, clock: source.runtime.clock, config: { env: 'production' } })
const wholeOnes = () => readdirSync(archives).filter((name) => name.endsWith('.backup'))
/** All that is there but files of changes. */
const others = () => readdirSync(archives).filter((name) => !name.includes('.changes'))
const partialOnes = () => others().filter((name) => name.endsWith('.partial'))
const changes = () => readdirSync(archives).filter((name) => name.endsWith('.changes'))

/** A back-up of which a part was written. The store is slow once the archive begins, with the stream of changes. */
async function inTheMiddle(...args: readonly string[]) {
  proxy.limitFrom('$changeStream', SLOW)
  const running = paymesh(['run', archives, ...args])
  await vi.waitFor(() => expect(partialOnes(), running.said()).toHaveLength(1), WAIT)
  return running
}

/** Operations and cursors of the store on this database that are neither ours nor those of the tests. */
async function currentOps() {
  const native = source.db.connection.getClient().db('admin')
  const found = await native
    .aggregate([{ $currentOp: { allUsers: true, idleCursors: true } }], { readConcern: { level: 'local' } })
    .toArray()
  return found.filter(({ ns }) => typeof ns === 'string' && ns.startsWith(`${source.database}.`))
}

const openCursors = async (): Promise<readonly string[]> =>
  (await currentOps()).map(
    ({ type, op, ns, cursor }) => `${type} ${op} ${ns} ${JSON.stringify(cursor?.originatingCommand ?? {})}`,
  )

/** Whether the process has continued to read the change stream: before its first answer has arrived nobody can close it. */
const isStreamKnown = async (): Promise<boolean> =>
  (await currentOps()).some(
    ({ cursor }) =>
      cursor?.nBatchesReturned > 1 && JSON.stringify(cursor.originatingCommand ?? {}).includes('$changeStream'),
  )

deepDescribe('SIGTERM', () => {
  // Guarantee: nothing that could be taken for an archive remains, and the store keeps nothing open.
  it.each(sampleOf(['SIGTERM', 'SIGINT'] as const, 1))(
    '%s during an archive ends it at once and cleans up',
    async (signal) => {
      const running = await inTheMiddle('--every', '1')
      await vi.waitFor(async () => expect(await isStreamKnown()).toBe(true), { ...WAIT, interval: 100 })
      running.child.kill(signal)
      const { status, said } = await running.ended
      expect([status, said]).toEqual([0, expect.stringContaining(`Scheduled back-ups ended (${signal})`)])
      expect(others()).toEqual([])
      await vi.waitFor(async () => expect(await openCursors()).toEqual([]), { ...WAIT, interval: 100 })
      expect((await source.db.collection(LEASES).findOne({ _id: BACKUP_LEASE }))?.owner).toBe('')
      expect(await backups().latest()).toBeNull()
      expect(await backups().lastAttempt()).toMatchObject({ failure: null })
    },
  )

  it('ends a single run with the status of the signal, and one of `backup create`', async () => {
    const running = await inTheMiddle()
    running.child.kill('SIGTERM')
    expect(await running.ended).toMatchObject({ status: 143, said: expect.stringContaining('No verified back-up') })
    const file = join(archives, 'one.backup')
    proxy.limitFrom('$changeStream', SLOW)
    const creating = paymesh(['create', file])
    await vi.waitFor(() => expect(existsSync(`${file}.partial`), creating.said()).toBe(true), WAIT)
    creating.child.kill('SIGTERM')
    expect(await creating.ended).toMatchObject({ status: 143, said: expect.stringContaining('No back-up was made') })
    expect(others()).toEqual([])
  })

  it('ends it although the store does not respond any more', async () => {
    const running = await inTheMiddle('--every', '1')
    proxy.limit(0)
    running.child.kill('SIGTERM')
    const { said } = await running.ended
    expect(others(), said).toEqual([])
  })

  it('ends the wait for the next archive', async () => {
    const running = paymesh(['run', archives, '--every', '24'])
    await vi.waitFor(() => expect(running.said()).toContain('verified, '), WAIT)
    running.child.kill('SIGTERM')
    expect((await running.ended).status).toBe(0)
    expect(others()).toEqual(wholeOnes())
  })
})

deepDescribe('a process that was killed', () => {
  deepTest('leaves a half archive, which the next one removes, and a lease, which ends', async () => {
    const running = await inTheMiddle('--every', '1')
    running.child.kill('SIGKILL')
    await running.ended
    const left = partialOnes()
    expect(left).toEqual([expect.stringMatching(/^paymesh-\w+\.backup\.unverified\.partial$/)])
    proxy.limit(null)
    const next = paymesh(['run', archives])
    // In place of half a minute: the store's clock has passed the end of the lease.
    await source.db.collection(LEASES).updateOne({ _id: BACKUP_LEASE }, { $set: { until: new Date(0) } })
    expect(await next.ended).toMatchObject({ status: 0, said: expect.stringContaining('verified, ') })
    expect(others()).toEqual(wholeOnes())
    expect(wholeOnes()).toHaveLength(1)
  })

  deepTest('after the rename and before the record is made up for at once', async () => {
    const name = archiveName(source.runtime.clock.now() - HOUR_MS)
    writeFileSync(join(archives, name), 'named, but not recorded')
    const next = paymesh(['run', archives, '--every', '24'])
    await vi.waitFor(() => expect(next.said()).toContain('verified, '), WAIT)
    expect(wholeOnes()).toHaveLength(2)
    // A restart makes no other one: the newest is the verified one.
    next.child.kill('SIGTERM')
    await next.ended
    const again = paymesh(['run', archives, '--every', '24'])
    await vi.waitFor(() => expect(again.said()).toContain('The next back-up is due at '), WAIT)
    again.child.kill('SIGTERM')
    await again.ended
    expect(wholeOnes()).toHaveLength(2)
  })
})

deepDescribe('two processes on one folder', () => {
  // Guarantee: no archive is read twice at once, and neither process removes what the other one writes.
  it('take turns: the second waits, and finds an archive that is new enough', async () => {
    const first = await inTheMiddle('--every', '1')
    const [writing = ''] = partialOnes()
    proxy.limit(SLOW / 6)
    const second = paymesh(['run', archives, '--every', '1', '--keep', '1'])
    await vi.waitFor(() => expect(second.said()).toContain('another process is making a back-up'), WAIT)
    expect(others()).toEqual([writing])
    proxy.limit(null)
    await vi.waitFor(() => expect(first.said()).toContain('verified, '), WAIT)
    expect(others()).toEqual([writing.replace('.unverified.partial', '')])
    first.child.kill('SIGTERM')
    second.child.kill('SIGTERM')
    expect([(await first.ended).status, (await second.ended).status]).toEqual([0, 0])
    expect(wholeOnes()).toHaveLength(1)
  })

  it('a process that was suspended until its lease ended gives up, and its archive is none', async () => {
    const running = await inTheMiddle()
    running.child.kill('SIGSTOP')
    await source.db.collection(LEASES).updateOne({ _id: BACKUP_LEASE }, { $set: { until: new Date(0) } })
    proxy.limit(null)
    const other = await paymesh(['run', archives]).ended
    expect(other).toMatchObject({ status: 0, said: expect.stringContaining('verified, ') })
    // The other one still holds the lease, for instance for its next archive.
    const until = new Date(source.runtime.clock.now() + 80_000)
    await source.db.collection(LEASES).updateOne({ _id: BACKUP_LEASE }, { $set: { owner: 'other', until } })
    // It still reads when it renews its lease.
    proxy.limit(SLOW / 2)
    running.child.kill('SIGCONT')
    const { status, said } = await running.ended
    expect([status, said]).toEqual([1, expect.stringContaining('another process is making a back-up')])
    expect(wholeOnes()).toHaveLength(1)
    expect(partialOnes()).toEqual([])
  })
})

deepDescribe('changes between archives', () => {
  it('are copied by the same process, continue after it was killed, and are restored with the archive', async () => {
    const payments = source.db.connection.collection<{ _id: string; key: string }>('payments')
    const write = async (_id: string) => await payments.insertOne({ _id, ...keyed(_id) })
    // As in Compose without a bucket.
    const first = paymesh(['run', archives, '--every', '24', '--copied='])
    await vi.waitFor(() => expect(first.said()).toContain('verified, '), WAIT)
    expect((await backups().latestChanges())?.copied).toBeNull()
    expect(changes().length).toBeGreaterThan(0)
    await write('after the archive')
    first.child.kill('SIGKILL')
    await first.ended
    // In place of half a minute: the store's clock has passed the end of its leases.
    await source.db.collection(LEASES).updateMany({}, { $set: { until: new Date(0) } })
    const before = changes()
    const elsewhere = mkdtempSync(join(folder, 'copied-'))
    for (const kind of ['archives', 'changes'])
      writeFileSync(join(elsewhere, kind), `${Math.floor(Date.now() / 1_000)}\n`)
    const second = paymesh(['run', archives, '--every', '24', '--copied', elsewhere])
    await vi.waitFor(() => expect(changes().length, second.said()).toBeGreaterThan(before.length), WAIT)
    await vi.waitFor(async () => expect((await backups().latestChanges())?.copied).not.toBeNull(), WAIT)
    expect(await doctor()).toMatch(/^the newest verified back-up is of \S+, and changes up to \S+ were copied$/)
    second.child.kill('SIGTERM')
    expect((await second.ended).status).toBe(0)
    expect(wholeOnes()).toHaveLength(1)
    const restored = await paymesh(['restore', join(archives, wholeOnes()[0] ?? ''), '--skip', '10'], {
      database: copy.database,
    }).ended
    expect([restored.status, restored.said]).toEqual([
      0,
      expect.stringMatching(/\d+ documents and [1-9]\d* files of changes were restored/),
    ])
    expect(
      await copy.db.connection.collection<{ _id: string }>('payments').countDocuments({ _id: 'after the archive' }),
    ).toBe(1)
    await payments.deleteOne({ _id: 'after the archive' })
  })
})

describe('two installations on one folder', () => {
  // Guards data: what this installation did not begin is another one's, however old it is.
  it('remove only their own archives, and count only those', async () => {
    const [own, strange] = ['20260101', '20260102'].map((day) => `paymesh-${day}T000000Z.backup`)
    const later = archiveName(source.runtime.clock.now() + 60_000)
    for (const name of [own, strange, later]) writeFileSync(join(archives, name ?? ''), name ?? '')
    const about = {
      action: 'backup.started' as const,
      subject: 'own',
      workspaceId: null,
      mode: null,
      actor: 'cli:root',
    }
    await createAuditRepository(source.db).insertMany([
      { id: 'backup.started:own', at: 1_767_225_600_000, ...about, detail: { file: own ?? '' } },
    ])
    const running = paymesh(['run', archives, '--every', '24', '--keep', '1', '--keep-days', '1'])
    await vi.waitFor(() => expect(running.said()).toContain('The next back-up is due at '), WAIT)
    expect(running.said()).toContain('verified, ')
    running.child.kill('SIGTERM')
    await running.ended
    expect(existsSync(join(archives, own ?? ''))).toBe(false)
    expect(wholeOnes()).toEqual(expect.arrayContaining([strange, later]))
    expect(wholeOnes()).toHaveLength(3)
    // A restart counts from our own, although the newest of the folder is not recorded.
    const again = paymesh(['run', archives, '--every', '24'])
    await vi.waitFor(() => expect(again.said()).toContain('The next back-up is due at '), WAIT)
    again.child.kill('SIGTERM')
    await again.ended
    expect(wholeOnes()).toHaveLength(3)
  })
})

describe('a back-up that fails', () => {
  deepTest('says why and when it is tried again, and `doctor` reads the reason', async () => {
    const missing = join(archives, 'missing')
    const running = paymesh(['run', missing, '--every', '1'])
    await vi.waitFor(() => expect(running.said()).toContain('next attempt in 60 minutes'), WAIT)
    expect(running.said()).toContain(`${missing} is no folder (ENOENT): make it, or mount the volume`)
    running.child.kill('SIGTERM')
    await running.ended
    expect((await backups().lastAttempt())?.failure).toContain(`${missing} is no folder`)
    await expect(doctor()).rejects.toThrow(/no back-up was verified yet; the attempt of \S+ failed: .* is no folder/)
    // The folder is there, and the next start tries again at once.
    mkdirSync(missing)
    const { status } = await paymesh(['run', missing]).ended
    expect(status).toBe(0)
    expect(readdirSync(missing)).toHaveLength(1)
    expect(await backups().lastAttempt()).toMatchObject({ failure: null })
    expect(await doctor()).toMatch(/^the newest verified back-up is of \S+; what happened since is in no back-up/)
  })

  // Guards data: an archive that cannot be verified takes the place of none.
  it('keeps the archives of before, and two that were not verified', async () => {
    const made = await paymesh(['run', archives, '--keep', '1', '--keep-days', '1']).ended
    expect(made.status).toBe(0)
    const [verified = ''] = wholeOnes()
    const bytes = readFileSync(join(archives, verified))
    for (const day of ['01', '02']) writeFileSync(join(archives, `paymesh-202601${day}T000000Z.backup.unverified`), '')
    const wrong = await paymesh(['run', archives, '--keep', '1', '--keep-days', '1'], { masterKey: 8 }).ended
    expect([wrong.status, wrong.said]).toEqual([1, expect.stringContaining('sealed values cannot be opened')])
    expect(wholeOnes()).toEqual([verified])
    expect(readFileSync(join(archives, verified)).equals(bytes)).toBe(true)
    const unverified = readdirSync(archives).filter((name) => name.endsWith('.unverified'))
    expect(unverified).toHaveLength(2)
    expect(unverified).not.toContain('paymesh-20260101T000000Z.backup.unverified')
    // The archive of before is recent enough, and yet it is reported.
    await expect(doctor()).rejects.toThrow(/failed: .* sealed values cannot be opened/)
  })
})

deepDescribe('clocks and files that lie', () => {
  deepTest('an archive of a later time stops no back-up, and a record of a later time is replaced', async () => {
    const now = source.runtime.clock.now()
    const later = now + 3_650 * 24 * HOUR_MS
    const fake = archiveName(later)
    writeFileSync(join(archives, fake), 'put there by somebody')
    const value = JSON.stringify({ backupId: 'of-a-wrong-clock', takenAt: later, verifiedAt: later, chain: null })
    await source.db.collection(INSTALLATION).insertOne({ _id: 'verified_backup', value, changedAt: new Date() })
    await expect(doctor()).rejects.toThrow('a later time than now: a clock is or was wrong')
    expect(backupAge(await backups().latest(), now)).toBe(Number.POSITIVE_INFINITY)
    const running = paymesh(['run', archives, '--every', '24', '--keep', '1'])
    await vi.waitFor(() => expect(running.said()).toContain('verified, '), WAIT)
    running.child.kill('SIGTERM')
    await running.ended
    expect(wholeOnes()).toHaveLength(2)
    expect((await backups().latest())?.takenAt).toBeLessThan(now + HOUR_MS)
  })
})
