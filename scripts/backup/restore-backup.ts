import { createReadStream } from 'node:fs'
import { pipeline } from 'node:stream/promises'
import { createGunzip } from 'node:zlib'
import { type ArchiveContents, walkArchive } from '#shared/db/backup/archive-contents.ts'
import { type Precautions, takePrecautions } from '#shared/db/backup/prepare-restored-database.ts'
import { requireEmpty, writeArchive } from '#shared/db/backup/restore-archive.ts'
import type { Database } from '#shared/db/connection/connect.ts'
import { envelopesIn } from '#shared/db/maintenance/sealed-secret-repository.ts'
import { writeRestoreState } from '#shared/db/restore/restore-state.ts'
import { migrate } from '#shared/db/schema/migrate.ts'
import { NEWEST_SCHEMA } from '#shared/db/schema/migrations/list.ts'
import type { SecretBox } from '#shared/ports/secrets.ts'
import { type ArchiveHead, type ArchiveSecret, openArchive } from '#shared/runtime/secrets/archive-cipher.ts'
import { deriveAhead, type HeadroomDeps } from '#shared/usecases/wallets/address-headroom.ts'

/** Addresses of each key that exist, and are watched, before the first process starts. */
const HEADROOM = 64

export interface VerifiedArchive extends ArchiveContents {
  readonly head: ArchiveHead
  /** Sealed values, and how many of them the installation's master keys open. */
  readonly sealed: { readonly total: number; readonly opened: number }
}

/** Reads an archive to its end and checks all of it; nothing is written. Throws `ArchiveRefused`, or what else is wrong with it. */
export async function verifyBackup(
  file: string,
  secret: ArchiveSecret,
  secretBox: Pick<SecretBox, 'open'>,
): Promise<VerifiedArchive> {
  const sealed = { total: 0, opened: 0 }
  let head: ArchiveHead | undefined
  let contents: ArchiveContents | undefined
  const onHead = (found: ArchiveHead): void => {
    head = found
  }
  await pipeline(
    createReadStream(file),
    (source: AsyncIterable<Buffer>) => openArchive(source, secret, onHead),
    createGunzip(),
    async (source: AsyncIterable<Buffer>) => {
      contents = await walkArchive(source, (collection, document) => {
        for (const { sealed: envelope, context } of envelopesIn(collection, {
          ...document,
          _id: String(document['_id']),
        })) {
          sealed.total += 1
          if (opens(secretBox, envelope, context)) sealed.opened += 1
        }
      })
    },
  )
  if (head === undefined || contents === undefined) throw new Error('the archive is empty')
  return { ...contents, head, sealed }
}

function opens(secretBox: Pick<SecretBox, 'open'>, envelope: string, context: string): boolean {
  try {
    secretBox.open(envelope, context)
    return true
  } catch {
    return false
  }
}

export interface RestoreDeps extends HeadroomDeps {
  readonly db: Database
}

export interface RestoreOptions {
  readonly file: string
  readonly secret: ArchiveSecret
  readonly actor: string
  /** Indexes of each key and invoice numbers of each series that are left out. */
  readonly skip: number
  /** How long listed addresses wait, milliseconds. */
  readonly quarantineMs: number
  /** Goes on although some sealed values will never be read again. */
  readonly acceptUnreadable: boolean
  readonly onProgress: (collection: string, documents: number) => void
}

export interface RestoredBackup extends VerifiedArchive {
  readonly precautions: Precautions
}

/**
 * Restores an archive into an empty database. All of it is verified before the first write; a restore that is interrupted leaves a database
 * in which no process starts. Afterwards the installation works, from addresses and numbers that were never given out, and sends
 * nothing until it is confirmed.
 */
export async function restoreBackup(deps: RestoreDeps, options: RestoreOptions): Promise<RestoredBackup> {
  const { db, clock } = deps
  const { file, secret, actor, skip, quarantineMs, acceptUnreadable, onProgress } = options
  const verified = await verifyBackup(file, secret, deps.secretBox)
  if (verified.schemaVersion > NEWEST_SCHEMA) {
    throw new Error(
      `the archive has schema ${verified.schemaVersion}, this version knows ${NEWEST_SCHEMA}: use a newer version`,
    )
  }
  const { total, opened } = verified.sealed
  if (opened < total && !acceptUnreadable) {
    throw new Error(
      `${total - opened} of ${total} sealed values do not open: PAYMESH_MASTER_KEY, or PAYMESH_MASTER_KEYS_OLD, must hold the keys of the time of the back-up`,
    )
  }
  await requireEmpty(db)
  const at = clock.now()
  const state = { takenAt: verified.takenAt, restoredAt: new Date(at).toISOString(), skip }
  await writeRestoreState(db, { ...state, state: 'writing' })
  await pipeline(
    createReadStream(file),
    (source: AsyncIterable<Buffer>) => openArchive(source, secret),
    createGunzip(),
    async (source: AsyncIterable<Buffer>) => {
      await writeArchive(db, source, onProgress)
    },
  )
  await migrate(db)
  const precautions = await takePrecautions(db, { skip, quarantineUntil: at + quarantineMs, at })
  // Whoever was given one of the skipped addresses may pay to it: they are watched before the first block is read.
  await deriveAhead(deps, HEADROOM)
  await writeRestoreState(
    db,
    { ...state, state: 'held' },
    {
      id: `installation-restored:${state.restoredAt}`,
      at,
      actor,
      action: 'installation.restored',
      subject: 'installation',
      workspaceId: null,
      mode: null,
      detail: { taken_at: verified.takenAt, skipped: skip, quarantine_hours: quarantineMs / 3_600_000 },
    },
  )
  return { ...verified, precautions }
}
