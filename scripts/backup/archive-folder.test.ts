import { chmodSync, mkdtempSync, readdirSync, rmSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { probeFolder, removeLeftovers, removeUnverified, unverifiedName } from './archive-folder.ts'

const DAY_MS = 86_400_000
const NOW = Date.UTC(2026, 5, 30, 3, 0, 0)
const nameOf = (day: number): string => `paymesh-202606${day}T030000Z.backup`
let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'paymesh-folder-'))
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

const put = (name: string, at: number): void => {
  writeFileSync(join(folder, name), '')
  utimesSync(join(folder, name), at / 1_000, at / 1_000)
}

it('says of a folder whether files can be written there, and leaves none', async () => {
  expect(Math.abs((await probeFolder(folder)) - Date.now())).toBeLessThan(60_000)
  expect(readdirSync(folder)).toEqual([])
  await expect(probeFolder(join(folder, 'missing'))).rejects.toThrow('is no folder (ENOENT): make it, or mount')
  put('file', NOW)
  await expect(probeFolder(join(folder, 'file'))).rejects.toThrow('is no folder (ENOTDIR)')
  await expect(probeFolder('/proc')).rejects.toThrow(/is no folder|cannot write/)
  symlinkSync(join(folder, 'nowhere'), join(folder, 'link'))
  await expect(probeFolder(join(folder, 'link'))).rejects.toThrow('is no folder (ENOENT)')
})

it('says that it may not be written', async () => {
  chmodSync(folder, 0o500)
  await asPerson(async () => await expect(probeFolder(folder)).rejects.toThrow('this user cannot write into'))
})

/** Root may write anywhere: the work is done as nobody then. */
async function asPerson(work: () => Promise<void>): Promise<void> {
  if (process.geteuid?.() !== 0) return await work()
  process.seteuid?.(65_534)
  try {
    await work()
  } finally {
    process.seteuid?.(0)
  }
}

// Guards data: nothing is removed that another process may still write, nor an archive.
it('removes half archives: that of the last attempt at once, others after a day', async () => {
  const own = `${unverifiedName(nameOf(29))}.partial`
  const [fresh, old, first] = [`${unverifiedName(nameOf(28))}.partial`, `${nameOf(20)}.partial`, nameOf(10)]
  const changes = `${nameOf(20).replace('.backup', '')}-0123456789abcdef.changes`
  for (const ending of ['.unverified', '.unverified.partial']) put(`${changes}${ending}`, NOW - 2 * DAY_MS)
  const kept = [changes, unverifiedName(nameOf(29)), unverifiedName(nameOf(9)), first, 'other.partial', nameOf(29)]
  put(own, NOW)
  put(fresh, NOW - DAY_MS / 2)
  put(old, NOW - 2 * DAY_MS)
  for (const name of kept) put(name, NOW - 90 * DAY_MS)
  await removeLeftovers(folder, { attempted: nameOf(29), now: NOW })
  expect(readdirSync(folder).sort()).toEqual([fresh, ...kept].sort())
  await removeLeftovers(folder, { attempted: null, now: NOW })
  expect(readdirSync(folder)).toContain(fresh)
})

// Guards data: when verification fails here, the archives may still be all there is.
it('keeps the two newest archives that were not verified, until one was', async () => {
  for (const day of [11, 12, 13, 14]) put(unverifiedName(nameOf(day)), NOW - (15 - day) * DAY_MS)
  put(unverifiedName(nameOf(15)), NOW)
  put(nameOf(10), NOW - 90 * DAY_MS)
  await removeUnverified(folder, NOW, { all: false })
  expect(readdirSync(folder).sort()).toEqual([nameOf(10), unverifiedName(nameOf(14)), unverifiedName(nameOf(15))])
  await removeUnverified(folder, NOW + DAY_MS, { all: true })
  expect(readdirSync(folder).sort()).toEqual([nameOf(10), unverifiedName(nameOf(15))])
})
