import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { copyFileSync, createReadStream, existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { fileTarget, streamTarget } from '#scripts/backup/archive-target.ts'
import { type RestoreOptions, restoreBackup } from '#scripts/backup/restore-backup.ts'
import { takeBackup } from '#scripts/backup/take-backup.ts'
import { verifyBackup } from '#scripts/backup/verify-backup.ts'
import { createRepositories } from '#shared/db/create-repositories.ts'
import { verifyIndexes } from '#shared/db/schema/migrate.ts'
import type { ArchiveSecret } from '#shared/runtime/secrets/archive-cipher.ts'
import { createAuditKeys, createMarkKeys } from '#shared/runtime/secrets/audit-keys.ts'
import { deepDescribe, deepTest, sampleOf } from '#test/support/depth.ts'
import { dyingDatabase } from '#test/support/dying-database.ts'
import { keyed } from '#test/support/keyed.ts'
import { openReconciliationStage } from '#test/support/reconciliation-stage.ts'
import { makeStoreFolder } from '#test/support/store-folder.ts'
import { useStores } from '#test/support/stores.ts'

const secret: ArchiveSecret = { kind: 'key', key: new Uint8Array(32).fill(7) }
const source = useStores()
const copy = useStores({ migrated: false })
const folder = makeStoreFolder('paymesh-faults')
const keyFile = join(folder, 'backup.key')
let stage: Awaited<ReturnType<typeof openReconciliationStage>>

beforeAll(async () => {
  writeFileSync(keyFile, Buffer.alloc(32, 7).toString('base64'))
  stage = await openReconciliationStage(source)
  // More than a pipe holds.
  await source.db.connection.collection<{ _id: string; [field: string]: unknown }>('payments').insertMany(
    Array.from({ length: 2_000 }, (_, n) => ({
      _id: `big-${n}`,
      ...keyed(`big-${n}`),
      noise: randomBytes(600).toString('base64'),
    })),
  )
})
beforeEach(async () => {
  await copy.db.connection.dropDatabase()
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** The command line as a separate process. */
function paymesh(args: readonly string[], stdout: 'pipe' | number = 'pipe') {
  const byte = (value: number) => Buffer.alloc(32, value).toString('base64')
  const env = {
    ...{ PATH: process.env['PATH'] ?? '', HOME: process.env['HOME'] ?? '' },
    ...{ MONGO_URL: source.mongoUrl, REDIS_URL: source.redisUrl },
    ...{ PAYMESH_MONGO_DATABASE: source.database, PAYMESH_REDIS_PREFIX: source.prefix },
    ...{ PAYMESH_MASTER_KEY: byte(7), PAYMESH_KEY_PEPPER: byte(8) },
    PAYMESH_ACCEPTED_RISKS: 'known-keys,http-urls',
  }
  const child = spawn(process.execPath, ['scripts/paymesh.mjs', 'backup', ...args], {
    env,
    stdio: ['pipe', stdout, 'pipe'],
  })
  const said: string[] = []
  child.stderr?.on('data', (part: Buffer) => said.push(part.toString('utf8')))
  const ended = once(child, 'close').then(([code]) => ({ code: code as number | null, said: said.join('') }))
  return { child, ended }
}

const take = async (file: string) =>
  await takeBackup(source.db, {
    ...{ target: fileTarget(file), id: 'faults', secret, version: 'test' },
    onProgress: () => undefined,
  })
const deps = (db = copy.db) => ({
  ...copy.runtime,
  db,
  wallets: createRepositories(db, copy.runtime).wallets,
  addressBook: stage.engine.addressBook,
  markPlaces: [],
  markKeys: createMarkKeys(new Uint8Array(32).fill(7)),
  auditKeys: createAuditKeys(new Uint8Array(32).fill(7)),
  secretBox: stage.engine.secretBox,
})
const options = (file: string): RestoreOptions => ({
  ...{ file, secret, actor: 'cli:test', skip: 10, quarantineMs: 1_000, until: null, acceptUnreadable: false },
  onProgress: () => undefined,
})

deepDescribe('`backup create -`', () => {
  it('writes the archive to stdout and everything else to stderr', async () => {
    const { child, ended } = paymesh(['create', '-', '--key-file', keyFile])
    const parts: Buffer[] = []
    child.stdout?.on('data', (part: Buffer) => parts.push(part))
    const { code, said } = await ended
    expect(code).toBe(0)
    expect(said).toMatch(/About \d+ documents, .* before compression/)
    expect(said).toMatch(/stdout: \d+ documents as of /)
    const checking = paymesh(['verify', '-', '--key-file', keyFile, '--json'])
    const answer: Buffer[] = []
    checking.child.stdout?.on('data', (part: Buffer) => answer.push(part))
    checking.child.stdin?.end(Buffer.concat(parts))
    expect((await checking.ended).code).toBe(0)
    expect(JSON.parse(Buffer.concat(answer).toString())).toMatchObject({ counts: { payments: expect.any(Number) } })
  })

  it('fails when its reader goes away, and when there is no space', async () => {
    const broken = paymesh(['create', '-', '--key-file', keyFile])
    broken.child.stdout?.once('data', () => broken.child.stdout?.destroy())
    const { code, said } = await broken.ended
    expect(code).toBe(1)
    expect(said).toContain('the program that reads stdout closed it: no back-up was made')
    const full = streamTarget(
      await import('node:fs').then(({ createWriteStream }) => createWriteStream('/dev/full')),
      'stdout',
    )
    const failed = takeBackup(source.db, {
      ...{ target: full, id: 'full', secret, version: 'test', onProgress: () => undefined },
    })
    await expect(failed).rejects.toThrow('no space is left for stdout: no back-up was made')
  })
})

describe('a back-up into a file', () => {
  it('leaves nothing with a valid name, or at all, when it fails at any piece', async () => {
    for (const pieces of [0, 1, 2]) {
      const file = join(folder, `failed-${pieces}.backup`)
      const target = fileTarget(file)
      const failing = takeBackup(source.db, {
        ...{ id: 'fails', secret, version: 'test', onProgress: () => undefined },
        target: {
          write: async (parts) =>
            await target.write(
              (async function* () {
                let count = 0
                for await (const part of parts) {
                  if (count++ === pieces) throw Object.assign(new Error('write failed'), { code: 'ENOSPC' })
                  yield part
                }
              })(),
            ),
        },
      })
      await expect(failing).rejects.toThrow(`no space is left for ${file}`)
    }
    expect(readdirSync(folder).filter((name) => name.startsWith('failed'))).toEqual([])
  })

  deepTest('overwrites neither an archive nor the work of another back-up', async () => {
    const file = join(folder, 'same.backup')
    await take(file)
    const before = readFileSync(file)
    await expect(take(file)).rejects.toThrow('already exists')
    const busy = join(folder, 'busy.backup')
    writeFileSync(`${busy}.partial`, 'of another process')
    await expect(take(busy)).rejects.toThrow('another back-up is writing it')
    expect(readFileSync(`${busy}.partial`, 'utf8')).toBe('of another process')
    expect(readFileSync(file).equals(before)).toBe(true)
    expect(existsSync(busy)).toBe(false)
  })

  deepTest('that is killed leaves a partial file, which no command accepts', async () => {
    const file = join(folder, 'killed.backup')
    const { child, ended } = paymesh(['create', file, '--key-file', keyFile])
    await vi.waitFor(() => expect(existsSync(`${file}.partial`)).toBe(true), { timeout: 60_000, interval: 1 })
    child.kill('SIGKILL')
    await ended
    // The process may have been faster than the kill; then the archive is whole.
    if (existsSync(file)) await verifyBackup(createReadStream(file), secret, stage.engine.secretBox)
    else {
      copyFileSync(`${file}.partial`, join(folder, 'half.backup'))
      await expect(restoreBackup(deps(), options(join(folder, 'half.backup')))).rejects.toThrow(
        /truncated|not a backup/,
      )
      expect(await copy.db.connection.listCollections()).toEqual([])
    }
  })
})

describe('a restore that is killed', () => {
  // Guards money: no process works on half of the data.
  it('at any of its writes leaves a database in which no process starts, until it is dropped', {
    timeout: 240_000,
  }, async () => {
    const file = join(folder, 'whole.backup')
    await take(file)
    const writes = [
      [1, 'after'],
      [2, 'before'],
      [9, 'after'],
      [14, 'before'],
      [22, 'after'],
    ] as const
    for (const [at, when] of sampleOf(writes, 2)) {
      await copy.db.connection.dropDatabase()
      await expect(
        restoreBackup(deps(dyingDatabase(copy.db, at, when)), options(file)),
        `${when} ${at}`,
      ).rejects.toThrow('killed')
      await expect(verifyIndexes(copy.db), `${when} ${at}`).rejects.toThrow('drop the database and restore again')
      await expect(restoreBackup(deps(), options(file))).rejects.toThrow('is not empty')
    }
    await copy.db.connection.dropDatabase()
    await restoreBackup(deps(), options(file))
    await verifyIndexes(copy.db)
  })
})
