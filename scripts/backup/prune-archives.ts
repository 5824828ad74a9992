import { readdir, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'

const DAY_MS = 86_400_000
const NAME = /^paymesh-(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z\.backup$/
const PARTIAL = /^paymesh-\d{8}T\d{6}Z\.backup\.partial$/

/** Which archives of a folder are kept. */
export interface Retention {
  /** At least so many of the newest ones, whatever their age. */
  readonly keep: number
  /** All that are younger, whatever their number. */
  readonly keepDays: number
}

/** File name of an archive that is begun at `at`: names sort by time. */
export const archiveName = (at: number): string =>
  `paymesh-${new Date(at).toISOString().replaceAll(/[-:]|\.\d+/g, '')}.backup`

/** The archives of a folder by name, newest first, with the time in their names. Other files are not looked at. */
export async function listArchives(folder: string): Promise<readonly { readonly name: string; readonly at: number }[]> {
  return (await readdir(folder))
    .flatMap((name) => {
      const [, year, month, day, hour, minute, second] = NAME.exec(name) ?? []
      const at = Date.parse(`${year}-${month}-${day}T${hour}:${minute}:${second}Z`)
      return Number.isNaN(at) ? [] : [{ name, at }]
    })
    .toSorted((one, other) => other.at - one.at)
}

/**
 * Removes the archives that are kept neither by number nor by age, and what interrupted back-ups left a day ago. Returns the names of removed files.
 * `verified` is kept in any case.
 */
export async function pruneArchives(
  folder: string,
  { keep, keepDays }: Retention,
  { verified, now }: { readonly verified: string; readonly now: number },
): Promise<readonly string[]> {
  const archives = await listArchives(folder)
  const old = archives
    .slice(keep)
    .filter(({ name, at }) => name !== verified && now - at > keepDays * DAY_MS)
    .map(({ name }) => name)
  const partial = (await readdir(folder)).filter((name) => PARTIAL.test(name))
  const left: string[] = []
  for (const name of partial) if (now - (await stat(join(folder, name))).mtimeMs > DAY_MS) left.push(name)
  const removed = [...old, ...left]
  for (const name of removed) await rm(join(folder, name), { force: true })
  return removed
}
