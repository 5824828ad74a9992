import { open, readdir, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { z } from 'zod'
import type { ChainLink } from '#shared/db/backup/change-chain.ts'
import { type ArchiveHead, ArchiveRefused, readArchiveHead } from '#shared/runtime/secrets/archive-cipher.ts'
import { archiveName } from './prune-archives.ts'

const DAY_MS = 86_400_000
const NAME = /^paymesh-\d{8}T\d{6}Z-([0-9a-f]{16})\.changes$/
/** Longer than any head. */
const HEAD_BYTES = 131_072

/** What the head of a file of changes says of it. */
export const changesAbout = z.object({
  installation: z.string(),
  /** Of the database: a restored one has another. */
  life: z.string(),
  chain: z.string(),
  link: z.string(),
  after: z.string(),
  number: z.number().int().min(1),
})

/** What the head of an archive says of the changes that follow it; absent without any. */
const archiveAbout = z.object({ life: z.string(), chain: z.string(), number: z.number().int().min(0) })

export type ChangesAbout = z.output<typeof changesAbout>

/** A file of changes by its head, which nobody has verified yet. */
export interface ChangesFile extends ChangesAbout {
  readonly name: string
  /** When its writing began. */
  readonly createdAt: number
}

/** File name of changes: the time at which their writing began, and their link. */
export const changesName = (at: number, link: string): string =>
  archiveName(at).replace(/\.backup$/, `-${link}.changes`)

/** The name of the file of a link in a folder; null when it is not there. */
export async function findChanges(folder: string, link: string): Promise<string | null> {
  return (await readdir(folder)).find((name) => NAME.exec(name)?.[1] === link) ?? null
}

/** All files of changes of a folder, and for each that has no head why. */
export async function listChanges(
  folder: string,
): Promise<{ readonly files: readonly ChangesFile[]; readonly unread: readonly string[] }> {
  const files: ChangesFile[] = []
  const unread: string[] = []
  for (const name of (await readdir(folder)).filter((name) => NAME.test(name)).toSorted()) {
    try {
      const { about, createdAt } = await headOf(join(folder, name))
      files.push({ ...changesAbout.parse(about), name, createdAt: Date.parse(createdAt) })
    } catch (error) {
      // Another process removed it.
      if (isMissing(error)) continue
      if (!(error instanceof ArchiveRefused || error instanceof z.ZodError)) throw error
      unread.push(`${name}: ${error instanceof ArchiveRefused ? error.message : 'its head is not that of changes'}`)
    }
  }
  return { files, unread }
}

/** What follows a link. */
export interface ChangesPath {
  /** In order, each behind the one before. */
  readonly path: readonly ChangesFile[]
  /** Later files that nothing on the path leads to, newest last. */
  readonly beyond: readonly ChangesFile[]
}

/**
 * The files that follow `from`, the newest link of a copy of the store, by their links alone: neither names nor times decide. Where two follow the same
 * link, because a writer was suspended, the one that leads further counts.
 */
export function followingChanges(all: readonly ChangesFile[], from: ChainLink): ChangesPath {
  const files = all.filter(({ chain }) => chain === from.chain)
  const next = new Map<string, { readonly file: ChangesFile; readonly reach: number }>()
  for (const file of files.toSorted((one, other) => other.number - one.number)) {
    const reach = next.get(file.link)?.reach ?? file.number
    if (reach > (next.get(file.after)?.reach ?? -1)) next.set(file.after, { file, reach })
  }
  // The newest link may be of a file that was never completed: then what follows stands behind the one before it.
  const isComplete = files.some(({ link }) => link === from.id) || next.has(from.id)
  const path: ChangesFile[] = []
  let at = isComplete ? from.id : (from.after ?? from.id)
  for (let step = next.get(at); step !== undefined && path.length < files.length; step = next.get(at)) {
    path.push(step.file)
    at = step.file.link
  }
  const last = path.at(-1)?.number ?? from.number
  const beyond = files.filter(({ number }) => number > last).toSorted((one, other) => one.number - other.number)
  return { path, beyond }
}

/**
 * Removes files of changes of this installation that none of `archives`, which are kept with all that follows them, needs, once they are a day old by the
 * clock of the file system; those of an earlier life of the database stay for `keepDays`.
 */
export async function pruneChanges(
  folder: string,
  archives: readonly string[],
  own: Pick<ChangesAbout, 'installation' | 'life'>,
  { keepDays, now }: { readonly keepDays: number; readonly now: number },
): Promise<void> {
  const needed = new Map<string, number>()
  for (const name of archives) {
    const { about } = await headOf(join(folder, name))
    const { data } = archiveAbout.safeParse(about)
    if (data !== undefined) needed.set(data.chain, Math.min(data.number, needed.get(data.chain) ?? data.number))
  }
  for (const { name, installation, life, chain, number } of (await listChanges(folder)).files) {
    // An archive may name an attempt that was never completed: the file that took its place has the same number.
    const isNeeded = life === own.life && number >= (needed.get(chain) ?? Number.POSITIVE_INFINITY)
    if (installation !== own.installation || isNeeded) continue
    const ageMs = now - ((await stat(join(folder, name)).catch(() => null))?.mtimeMs ?? now)
    if (ageMs > (life === own.life ? DAY_MS : keepDays * DAY_MS)) await rm(join(folder, name), { force: true })
  }
}

/** A folder has thousands of files: each is closed before the next one is opened. */
async function headOf(file: string): Promise<ArchiveHead> {
  const handle = await open(file)
  try {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(HEAD_BYTES))
    return await readArchiveHead(Readable.from([buffer.subarray(0, bytesRead)]))
  } finally {
    await handle.close()
  }
}

const isMissing = (error: unknown): boolean => error instanceof Error && 'code' in error && error.code === 'ENOENT'
