import { randomUUID } from 'node:crypto'
import { open, readdir, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'

const DAY_MS = 86_400_000
const UNVERIFIED = /^paymesh-\d{8}T\d{6}Z\.backup\.unverified$/
/** Archives that could not be verified and are kept: a wrong master key here does not make them useless. */
const UNVERIFIED_KEPT = 2
/** Half archives, and files of changes that have no name yet: they are never verified later. */
const PARTIAL =
  /^paymesh-\d{8}T\d{6}Z(\.backup(\.unverified)?\.partial|-[0-9a-f]{16}\.changes\.unverified(\.partial)?)$/
const PROBE = /^\.paymesh-probe-[0-9a-f-]{36}$/

/**
 * Writes a file into a folder, removes it, and returns its time: the clock of the file system, which may differ from every other. Throws, in words for
 * an operator, for a folder that does not exist or cannot be written.
 */
export async function probeFolder(folder: string): Promise<number> {
  const file = join(folder, `.paymesh-probe-${randomUUID()}`)
  try {
    // Never follows a link that somebody put there.
    const handle = await open(file, 'wx', 0o600)
    try {
      await handle.write('.')
      return (await handle.stat()).mtimeMs
    } finally {
      await handle.close()
      await rm(file, { force: true })
    }
  } catch (error) {
    throw inWords(error, folder)
  }
}

function inWords(cause: unknown, folder: string): unknown {
  const code = cause instanceof Error && 'code' in cause ? String(cause.code) : ''
  if (code === 'ENOENT' || code === 'ENOTDIR')
    return new Error(`${folder} is no folder (${code}): make it, or mount the volume of the back-ups there`, { cause })
  if (code === 'EACCES' || code === 'EPERM' || code === 'EROFS')
    return new Error(`this user cannot write into ${folder} (${code}): change its owner, mode or mount`, { cause })
  if (code === 'ENOSPC' || code === 'EDQUOT')
    return new Error(`no space is left in ${folder}: no back-up was made`, { cause })
  return cause
}

/** An archive has this name until it was verified. */
export const unverifiedName = (name: string): string => `${name}.unverified`

/**
 * Removes what interrupted back-ups left in a folder: the half archive of the last attempt of this installation, `attempted`, at once; those of any other
 * process after a day of the file system's clock, `now`, because they may still be written. Archives are not touched.
 */
export async function removeLeftovers(
  folder: string,
  { attempted, now }: { readonly attempted: string | null; readonly now: number },
): Promise<void> {
  const own = attempted === null ? null : `${unverifiedName(attempted)}.partial`
  for (const name of await readdir(folder)) {
    const isLeft = name === own || ((PARTIAL.test(name) || PROBE.test(name)) && (await isOld(folder, name, now)))
    if (isLeft) await rm(join(folder, name), { force: true })
  }
}

/** Removes all but the two newest archives that were not verified; with `all`, after one was, every one that is older than a day. */
export async function removeUnverified(folder: string, now: number, { all }: { readonly all: boolean }): Promise<void> {
  const found = (await readdir(folder))
    .filter((name) => UNVERIFIED.test(name))
    .toSorted()
    .reverse()
  for (const name of found.slice(all ? 0 : UNVERIFIED_KEPT))
    if (!all || (await isOld(folder, name, now))) await rm(join(folder, name), { force: true })
}

/** A file that is gone is not old: its owner renamed or removed it. */
async function isOld(folder: string, name: string, now: number): Promise<boolean> {
  const found = await stat(join(folder, name)).catch(() => null)
  return found !== null && now - found.mtimeMs > DAY_MS
}
