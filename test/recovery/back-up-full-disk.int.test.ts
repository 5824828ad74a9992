import { execFile, execFileSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { mkdirSync, mkdtempSync, readdirSync, rmSync, statfsSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { createVerifiedBackups } from '#shared/db/backup/verified-backups.ts'
import { deepTest } from '#test/support/depth.ts'
import { keyed } from '#test/support/keyed.ts'
import { openReconciliationStage } from '#test/support/reconciliation-stage.ts'
import { useStores } from '#test/support/stores.ts'

const MEGABYTE = 2 ** 20
const OLD = 'paymesh-20200101T000000Z.backup'
const source = useStores()
const folder = mkdtempSync(join(tmpdir(), 'paymesh-full-'))
const SMALL_DISK = new URL('small-disk.fixture.mjs', import.meta.url).href
const keyFile = join(folder, 'backup.key')
/** A file system of one megabyte, or a folder into which a command may write as much. */
const small = join(folder, 'small')

/** Whether this process may mount a file system; for others a write into the folder fails as there (`small-disk.fixture.mjs`). */
function mounted(): boolean {
  mkdirSync(small)
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=1m', 'tmpfs', small], { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}
const isMounted = mounted()
let bytesLeft = MEGABYTE

beforeAll(async () => {
  writeFileSync(keyFile, Buffer.alloc(32, 7).toString('base64'))
  await openReconciliationStage(source)
  // Three megabytes that do not compress.
  await source.db.connection
    .collection<{ _id: string; [field: string]: unknown }>('payments')
    .insertMany(
      Array.from({ length: 3_000 }, (_, n) => ({ _id: `big-${n}`, ...keyed(`big-${n}`), noise: randomBytes(1_000) })),
    )
})
beforeEach(() => {
  bytesLeft = MEGABYTE
  for (const name of readdirSync(small)) rmSync(join(small, name))
})
afterAll(() => {
  if (isMounted) execFileSync('umount', [small])
  rmSync(folder, { recursive: true, force: true })
})

function paymesh(args: readonly string[]): Promise<{ readonly status: number; readonly said: string }> {
  const env = {
    ...{ PATH: process.env['PATH'] ?? '', HOME: process.env['HOME'] ?? '', MONGO_URL: source.mongoUrl },
    ...{ PAYMESH_MONGO_DATABASE: source.database, PAYMESH_ACCEPTED_RISKS: 'known-keys,http-urls' },
    PAYMESH_MASTER_KEY: Buffer.alloc(32, 7).toString('base64'),
    ...(!isMounted && { NODE_OPTIONS: `--import ${SMALL_DISK}`, SMALL_DISK: small, SMALL_DISK_BYTES: `${bytesLeft}` }),
  }
  const command = ['scripts/paymesh.mjs', 'backup', ...args, '--key-file', keyFile]
  return new Promise((resolve) =>
    execFile(process.execPath, command, { env }, (error, _, said) =>
      resolve({ status: typeof error?.code === 'number' ? error.code : 0, said }),
    ),
  )
}

/** Zero in a folder: a disk on which others write says nothing. */
const freeBytes = () => {
  const { bavail, bsize } = statfsSync(small)
  return isMounted ? bavail * bsize : 0
}

function fill(): void {
  const filler = join(small, 'filler')
  if (isMounted) {
    expect(() => writeFileSync(filler, randomBytes(2 * MEGABYTE))).toThrow('ENOSPC')
    return
  }
  writeFileSync(filler, '')
  bytesLeft = 0
}

// Guarantee: a full disk leaves nothing that a restore would take for an archive, and old archives stay.
describe('a back-up onto a disk that becomes full', () => {
  it('ends with a clear message and frees what it wrote', async () => {
    const before = freeBytes()
    const { status, said } = await paymesh(['create', join(small, 'full.backup')])
    expect([status, said]).toEqual([1, expect.stringContaining(`no space is left for ${join(small, 'full.backup')}`)])
    expect(said).toContain('no back-up was made')
    expect(readdirSync(small)).toEqual([])
    expect(freeBytes()).toBe(before)
  })

  deepTest('removes no old archive and records nothing when it was scheduled', async () => {
    writeFileSync(join(small, OLD), 'bytes of long ago')
    const { status, said } = await paymesh(['run', small, '--keep', '1', '--keep-days', '1'])
    expect([status, said]).toEqual([1, expect.stringContaining('no space is left for')])
    expect(readdirSync(small)).toEqual([OLD])
    expect(await createVerifiedBackups(source.db).latest()).toBeNull()
  })

  deepTest('says so when not even the first byte fits', async () => {
    fill()
    const { status, said } = await paymesh(['create', join(small, 'none.backup')])
    expect([status, said]).toEqual([1, expect.stringContaining('no space is left for')])
    expect(readdirSync(small)).toEqual(['filler'])
  })
})
