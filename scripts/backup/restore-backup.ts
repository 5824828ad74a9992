import { createReadStream } from 'node:fs'
import type { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createGunzip } from 'node:zlib'
import type { ArchiveBatch, ArchiveContents } from '#shared/db/backup/archive-batch.ts'
import { walkArchive } from '#shared/db/backup/archive-contents.ts'
import { type Precautions, takePrecautions } from '#shared/db/backup/prepare-restored-database.ts'
import { prepareCollections, requireEmpty, type WriteBatch, writeArchive } from '#shared/db/backup/restore-archive.ts'
import type { Database } from '#shared/db/connection/connect.ts'
import { envelopesIn } from '#shared/db/maintenance/sealed-secret-repository.ts'
import { writeRestoreState } from '#shared/db/restore/restore-state.ts'
import { migrate } from '#shared/db/schema/migrate.ts'
import { NEWEST_SCHEMA } from '#shared/db/schema/migrations/list.ts'
import type { SecretBox } from '#shared/ports/secrets.ts'
import { type ArchiveHead, type ArchiveSecret, openArchive } from '#shared/runtime/secrets/archive-cipher.ts'
import { deriveAhead, type HeadroomDeps } from '#shared/usecases/wallets/address-headroom.ts'

/** Addresses of each key that are derived and watched before the first process starts. */
const HEADROOM = 64

export interface VerifiedArchive extends ArchiveContents {
  readonly head: ArchiveHead
  /** Number of sealed values, and how many of them the configured master keys decrypt. */
  readonly sealed: { readonly total: number; readonly opened: number }
}

/** Reads an archive to its end and checks all of it; nothing is written. Throws `ArchiveRefused`, or another fault of the archive. */
export async function verifyBackup(
  archive: Readable,
  secret: ArchiveSecret,
  secretBox: Pick<SecretBox, 'open'>,
): Promise<VerifiedArchive> {
  const sealed = sealedValues(secretBox)
  let head: ArchiveHead | undefined
  let contents: ArchiveContents | undefined
  const onHead = (found: ArchiveHead): void => {
    head = found
  }
  await readArchive(archive, { secret, onHead }, async (source) => {
    contents = await walkArchive(source, sealed.add)
  })
  if (head === undefined || contents === undefined) throw new Error('the archive is empty')
  return { ...contents, head, sealed: sealed.counted() }
}

/** Opens an archive for `work`. Throws the first error, not that of a stream which ended because of it. */
async function readArchive(
  archive: Readable,
  { secret, onHead }: { readonly secret: ArchiveSecret; readonly onHead?: (head: ArchiveHead) => void },
  work: (source: AsyncIterable<Buffer>) => Promise<void>,
): Promise<void> {
  const failures: unknown[] = []
  const failed = (error: unknown): never => {
    failures.push(error)
    throw error
  }
  await pipeline(
    archive,
    async function* (source: AsyncIterable<Buffer>) {
      try {
        yield* openArchive(source, secret, onHead)
      } catch (error) {
        failed(error)
      }
    },
    createGunzip(),
    async (source: AsyncIterable<Buffer>) => await work(source).catch(failed),
  ).catch((error: unknown) => {
    throw failures[0] ?? error
  })
}

/** Counts sealed values. Where a later pass holds a document again, only its last state has to be readable. */
function sealedValues(secretBox: Pick<SecretBox, 'open'>) {
  let total = 0
  const closed = new Map<string, number>()
  return {
    add: ({ name, documents, gone }: ArchiveBatch): void => {
      for (const id of gone) closed.delete(`${name} ${String(id)}`)
      for (const document of documents) {
        const _id = String(document['_id'])
        const found = envelopesIn(name, { ...document, _id })
        const unread = found.filter(({ sealed, context }) => !opens(secretBox, sealed, context)).length
        total += found.length
        closed.delete(`${name} ${_id}`)
        if (unread > 0) closed.set(`${name} ${_id}`, unread)
      }
    },
    counted: () => ({ total, opened: total - [...closed.values()].reduce((sum, count) => sum + count, 0) }),
  }
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
  /** Indexes of each key and invoice numbers of each series to skip. */
  readonly skip: number
  /** Quarantine of listed addresses, milliseconds. */
  readonly quarantineMs: number
  /** Continue although some sealed values cannot be read any more. */
  readonly acceptUnreadable: boolean
  readonly onProgress: (collection: string, documents: number) => void
  /** Writes a batch of documents; a test exchanges it. */
  readonly write?: WriteBatch
}

export interface RestoredBackup extends VerifiedArchive {
  readonly precautions: Precautions
}

/**
 * Restores an archive into an empty database. All of it is verified before the first write; an interrupted restore leaves a database
 * in which no process starts. Afterwards the installation works, with addresses and numbers that were never given out, and sends
 * nothing until it is confirmed.
 */
export async function restoreBackup(deps: RestoreDeps, options: RestoreOptions): Promise<RestoredBackup> {
  const { db, clock } = deps
  const { file, secret, actor, skip, quarantineMs, acceptUnreadable, onProgress } = options
  const verified = await verifyBackup(createReadStream(file), secret, deps.secretBox)
  if (verified.schemaVersion > NEWEST_SCHEMA) {
    throw new Error(
      `the archive has schema ${verified.schemaVersion}, this version knows ${NEWEST_SCHEMA}: use a newer version`,
    )
  }
  const { total, opened } = verified.sealed
  if (opened < total && !acceptUnreadable) {
    throw new Error(
      `${total - opened} of ${total} sealed values cannot be opened: PAYMESH_MASTER_KEY or PAYMESH_MASTER_KEYS_OLD must contain the keys that were in use when the backup was taken`,
    )
  }
  await requireEmpty(db)
  const at = clock.now()
  const state = { takenAt: verified.takenAt, restoredAt: new Date(at).toISOString(), skip }
  // Before anything else is written: no process may take what an interruption leaves for an installation.
  await writeRestoreState(db, { ...state, state: 'writing' })
  await prepareCollections(db)
  await readArchive(createReadStream(file), { secret }, async (source) => {
    await writeArchive(db, source, onProgress, options.write)
  })
  await migrate(db)
  const precautions = await takePrecautions(db, { skip, quarantineUntil: at + quarantineMs, at })
  // A payer with one of the skipped addresses may still pay: they are watched before the first block is read.
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
