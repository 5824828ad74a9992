import { createReadStream } from 'node:fs'
import { readFile, rm, utimes } from 'node:fs/promises'
import { join } from 'node:path'
import { readBackup, STEPS } from '#shared/db/backup/backup-source.ts'
import {
  beginChain,
  type ChainPosition,
  chainMoments,
  linkAfter,
  readChain,
  type StoredLink,
  timestampOf,
} from '#shared/db/backup/change-chain.ts'
import { ChangesLost } from '#shared/db/backup/change-collector.ts'
import type { createVerifiedBackups } from '#shared/db/backup/verified-backups.ts'
import { classOf } from '#shared/db/connection/collection-class.ts'
import type { Database } from '#shared/db/connection/connect.ts'
import type { createInstallationLifeRepository } from '#shared/db/restore/installation-life-repository.ts'
import { MODELS } from '#shared/db/schema/models.ts'
import type { SecretBox } from '#shared/ports/secrets.ts'
import type { CopiedBackups } from '#shared/ports/verified-backups.ts'
import type { ArchiveSecret } from '#shared/runtime/secrets/archive-cipher.ts'
import type { Uses } from '#shared/usecases/uses.ts'
import { unverifiedName } from './archive-folder.ts'
import { fileTarget, nameArchive } from './archive-target.ts'
import { changesAbout, changesName, findChanges } from './changes-folder.ts'
import { takeBackup } from './take-backup.ts'
import { type VerifiedArchive, verifyBackup } from './verify-backup.ts'

/** What taking changes works with. */
export type ChangesDeps = Uses<'clock'> & {
  readonly db: Database
  readonly secretBox: Pick<SecretBox, 'open'>
  readonly installationLife: ReturnType<typeof createInstallationLifeRepository>
  readonly verifiedBackups: Pick<ReturnType<typeof createVerifiedBackups>, 'latestChanges' | 'recordChanges'>
}

/** Where changes go, and how. */
export interface ChangesOrder {
  readonly folder: string
  /** Folder with the times of the copies in another place; empty where nobody makes any. */
  readonly copied: string
  readonly secret: ArchiveSecret
  readonly version: string
  readonly signal: AbortSignal
  /** Throws when another process has taken over. Called before a file gets its name. */
  readonly require: () => Promise<void>
}

/**
 * Where the chain of changes of this installation continues: behind the newest file of the folder that the store itself names. Where the store names none, or
 * the folder has not what it names, a new chain begins: then only an archive that is made from now on can be continued.
 */
export async function continueChain(deps: ChangesDeps, order: ChangesOrder): Promise<ChainPosition> {
  const stored = await readChain(deps.db)
  for (const id of stored === null ? [] : [stored.link.id, stored.link.after]) {
    const name = id === null ? null : await findChanges(order.folder, id)
    const position = name === null ? null : await positionOf(deps, order, name)
    if (position !== null && position.link.chain === stored?.link.chain) return position
  }
  return await beginChain(deps.db, stored)
}

/** The end of a file; null when it is damaged, or of a version with other collections. */
async function positionOf(
  { secretBox }: ChangesDeps,
  { folder, secret }: ChangesOrder,
  name: string,
): Promise<ChainPosition | null> {
  try {
    const { clusterTime, head, counts } = await verifyBackup(createReadStream(join(folder, name)), secret, secretBox)
    const { chain, link: id, after, number } = changesAbout.parse(head.about)
    const kept = MODELS.filter((model) => classOf(model.name).backup === 'kept').map((model) => model.name)
    const isSame = kept.length === Object.keys(counts).length && kept.every((one) => one in counts)
    return isSame ? { link: { chain, id, after, number }, time: timestampOf(clusterTime) } : null
  } catch (error) {
    // A file system that does not answer is no damage.
    if (error instanceof Error && 'syscall' in error) throw error
    return null
  }
}

/** A file of changes that was made. */
export interface TakenChanges extends Pick<VerifiedArchive, 'takenAt' | 'documents'> {
  readonly position: ChainPosition
  readonly name: string
}

/**
 * Writes what changed since `before` into a file of the folder, reads it back, gives it its name and records that. Throws `ChangesLost` when a new chain has
 * to begin; after any other error the same can be tried again from `continueChain`.
 */
export async function takeChanges(
  deps: ChangesDeps,
  order: ChangesOrder,
  before: ChainPosition,
): Promise<TakenChanges> {
  const { db, clock, secretBox, installationLife, verifiedBackups } = deps
  const { folder, secret, version, signal } = order
  const link = linkAfter(before.link)
  const stored = await readChain(db)
  if (stored === null || !isAt(stored, before)) throw new ChangesLost('the database is not where its changes ended')
  const { installation, life } = await installationLife.read()
  const name = changesName(clock.now(), link.id)
  const unverified = join(folder, unverifiedName(name))
  const steps = { ...STEPS, endMoment: chainMoments(link, stored) }
  try {
    await takeBackup(db, {
      ...{ target: fileTarget(unverified), id: link.id, secret, version, signal, onProgress: () => undefined },
      about: { installation, life, chain: link.chain, link: link.id, after: before.link.id, number: link.number },
      read: (from, options) => readBackup(from, { ...options, since: before.time }, steps),
    })
    const verified = await verifyBackup(createReadStream(unverified, { signal }), secret, secretBox)
    const { takenAt, documents, clusterTime, sealed } = verified
    if (sealed.opened < sealed.total)
      throw new Error('changes hold sealed values that the configured master keys do not open')
    await order.require()
    // What copies it elsewhere goes by this time: a file that was verified for minutes must not look as old as its last byte.
    const namedAt = new Date()
    await utimes(unverified, namedAt, namedAt)
    await nameArchive(unverified, join(folder, name))
    const copied = await readCopied(order.copied, (await verifiedBackups.latestChanges())?.copied ?? null)
    await verifiedBackups.recordChanges({ chain: link.chain, takenAt: Date.parse(takenAt), copied })
    return { position: { link, time: timestampOf(clusterTime) }, name, takenAt, documents }
  } finally {
    await rm(unverified, { force: true }).catch(() => undefined)
  }
}

/** Whether the store stands at this link, or at an attempt to follow it that was not completed. */
const isAt = ({ link }: StoredLink, { link: { chain, id } }: ChainPosition): boolean =>
  link.chain === chain && (link.id === id || link.after === id)

/** A Unix time in seconds, as `date +%s` prints it. */
const SECONDS = /^(\d{1,11})\n?$/

/**
 * When the last copies of archives and of changes that succeeded began, by the files `archives` and `changes` of a folder: who copies writes a Unix time
 * into each. A file that is missing or half written says nothing new: what was recorded before stands. Null for no folder.
 */
async function readCopied(folder: string, before: CopiedBackups | null): Promise<CopiedBackups | null> {
  if (folder === '') return null
  const at = async (kind: keyof CopiedBackups): Promise<number> => {
    const text = await readFile(join(folder, kind), 'utf8').catch(() => '')
    const seconds = SECONDS.exec(text)?.[1]
    return seconds === undefined ? (before?.[kind] ?? 0) : Number(seconds) * 1_000
  }
  return { archives: await at('archives'), changes: await at('changes') }
}
