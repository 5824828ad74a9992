import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { archiveName, listArchives, listPastArchives, pruneArchives } from './prune-archives.ts'

const DAY_MS = 86_400_000
const NOW = Date.UTC(2026, 5, 30, 3, 0, 0)
const nameOf = (daysAgo: number): string => archiveName(NOW - daysAgo * DAY_MS)
let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'paymesh-prune-'))
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

const put = (...names: readonly string[]): void => {
  for (const name of names) writeFileSync(join(folder, name), '')
}
const prune = (keep: number, keepDays: number, verified = nameOf(0)) =>
  pruneArchives(folder, { keep, keepDays }, { verified, now: NOW, own: new Set(readdirSync(folder)) })

it('names archives by their time, and finds them newest first', async () => {
  expect(archiveName(NOW)).toBe('paymesh-20260630T030000Z.backup')
  put(nameOf(2), nameOf(0), nameOf(1), 'other.backup', 'paymesh-20261399T000000Z.backup')
  expect(await listArchives(folder)).toEqual([0, 1, 2].map((days) => ({ name: nameOf(days), at: NOW - days * DAY_MS })))
})

it('removes what is neither new enough nor among the newest, and nothing else', async () => {
  put(...[0, 1, 5, 6, 7, 40].map(nameOf), 'before.backup', 'paymesh-notes.txt')
  expect([...(await prune(2, 5.5))].sort()).toEqual([nameOf(40), nameOf(7), nameOf(6)].sort())
  expect(readdirSync(folder).sort()).toEqual(
    [nameOf(0), nameOf(1), nameOf(5), 'before.backup', 'paymesh-notes.txt'].sort(),
  )
})

// Guards data: after months without a back-up, the old ones are all there is.
it('keeps the newest however old they are, and the one that was just verified', async () => {
  put(...[100, 200, 300].map(nameOf))
  expect(await prune(2, 1, nameOf(300))).toEqual([])
  expect(await prune(2, 1)).toEqual([nameOf(300)])
  expect(await prune(5, 1)).toEqual([])
})

// Guards data: a clock that was wrong once, or a file that somebody put there, does not take the place of an archive.
it('counts no archive of a later time, and does not remove it before that', async () => {
  put(...[-400, -3, 0, 1, 2].map(nameOf))
  expect(await prune(2, 1)).toEqual([nameOf(2)])
  expect((await listPastArchives(folder, NOW, new Set(readdirSync(folder)))).map(({ name }) => name)).toEqual([
    nameOf(0),
    nameOf(1),
  ])
  expect(readdirSync(folder)).toEqual(expect.arrayContaining([nameOf(-400), nameOf(-3)]))
})

// Guards data: two installations in one folder, by mistake or with a folder that several machines mount.
it('neither removes nor counts what another installation made', async () => {
  put(...[0, 1, 2, 40].map(nameOf))
  const own = new Set([nameOf(2), nameOf(40)])
  const about = { verified: nameOf(2), now: NOW, own }
  expect(await pruneArchives(folder, { keep: 1, keepDays: 1 }, about)).toEqual([nameOf(40)])
  expect((await listPastArchives(folder, NOW, own)).map(({ name }) => name)).toEqual([nameOf(2)])
  expect(readdirSync(folder).sort()).toEqual([0, 1, 2].map(nameOf).sort())
})
