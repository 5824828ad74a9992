import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { CopiedBackups } from '#shared/ports/verified-backups.ts'

/** A Unix time in seconds, as `date +%s` prints it. */
const SECONDS = /^(\d{1,11})\n?$/

/**
 * When the last copies of archives and of changes that succeeded began, by the files `archives` and `changes` of a folder: who copies writes a Unix time
 * into each. A file that is missing or half written says nothing new: what was recorded before stands. Null for no folder.
 */
export async function readCopied(folder: string, before: CopiedBackups | null): Promise<CopiedBackups | null> {
  if (folder === '') return null
  const at = async (kind: keyof CopiedBackups): Promise<number> => {
    const text = await readFile(join(folder, kind), 'utf8').catch(() => '')
    const seconds = SECONDS.exec(text)?.[1]
    return seconds === undefined ? (before?.[kind] ?? 0) : Number(seconds) * 1_000
  }
  return { archives: await at('archives'), changes: await at('changes') }
}
