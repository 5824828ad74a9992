import { readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { BACKUP_AHEAD_MAX_MS } from '#shared/ports/verified-backups.ts'

const DAY_MS = 86_400_000
const NAME = /^paymesh-(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z\.backup$/

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

/** The archives of a folder that are among `own`, newest first, without those that claim to be of a later time than `now`. */
export async function listPastArchives(
  folder: string,
  now: number,
  own: ReadonlySet<string>,
): ReturnType<typeof listArchives> {
  return (await listArchives(folder)).filter(({ name, at }) => own.has(name) && at <= now + BACKUP_AHEAD_MAX_MS)
}

/**
 * Removes the archives among `own` that are kept neither by number nor by age: all others are another installation's. Returns the names of removed
 * files. `verified` is kept in any case. Those of a later time stay until that time has come, and take the place of none.
 */
export async function pruneArchives(
  folder: string,
  { keep, keepDays }: Retention,
  { verified, now, own }: { readonly verified: string; readonly now: number; readonly own: ReadonlySet<string> },
): Promise<readonly string[]> {
  const removed = (await listPastArchives(folder, now, own))
    .slice(keep)
    .filter(({ name, at }) => name !== verified && now - at > keepDays * DAY_MS)
    .map(({ name }) => name)
  for (const name of removed) await rm(join(folder, name), { force: true })
  return removed
}
