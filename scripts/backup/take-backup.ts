import { Readable } from 'node:stream'
import { createGzip } from 'node:zlib'
import type { BackupProgress } from '#shared/db/backup/archive-writer.ts'
import { type BackupTotals, readBackup } from '#shared/db/backup/backup-source.ts'
import type { Database } from '#shared/db/connection/connect.ts'
import { type ArchiveHead, type ArchiveSecret, sealArchive } from '#shared/runtime/secrets/archive-cipher.ts'
import type { ArchiveTarget } from './archive-target.ts'

/** A back-up that was made. */
export interface TakenBackup extends BackupTotals {
  /** Of the archive. */
  readonly bytes: number
}

/** Options of `takeBackup`. */
export interface TakeOptions {
  readonly target: ArchiveTarget
  /** Names this back-up in the archive and in the audit log. */
  readonly id: string
  readonly secret: ArchiveSecret
  readonly version: string
  /** Further entries of the readable head. */
  readonly about?: ArchiveHead['about']
  readonly onProgress: (progress: BackupProgress) => void
  /** Ends the back-up with the reason of its abortion; the target then holds no archive. */
  readonly signal?: AbortSignal
  /** Reads the records of the archive; a test exchanges it. */
  readonly read?: typeof readBackup
}

/** Writes an encrypted archive of the installation as of the moment at which the reading ends. Memory does not depend on its size. */
export async function takeBackup(db: Database, options: TakeOptions): Promise<TakenBackup> {
  const { target, id, secret, version, onProgress, signal, read = readBackup } = options
  signal?.throwIfAborted()
  let totals: BackupTotals | undefined
  const onEnd = (ended: BackupTotals): void => {
    totals = ended
  }
  const records = read(db, { id, onProgress, onEnd })
  const plain = Readable.from(records, { objectMode: false })
  const packed = plain.pipe(createGzip({ level: 6 }))
  // `pipe` passes no errors on.
  plain.on('error', (error) => packed.destroy(error))
  // Its reader receives the error; without this listener one that is not reading just now would end the process.
  packed.on('error', () => undefined)
  const abort = (): void => void packed.destroy(signal?.reason)
  signal?.addEventListener('abort', abort)
  try {
    const about = { paymesh: version, database: db.name, ...options.about }
    const bytes = await target.write(sealArchive(packed, secret, about, new Date()))
    if (totals === undefined) throw new Error('the back-up is incomplete')
    return { ...totals, bytes }
  } finally {
    signal?.removeEventListener('abort', abort)
    plain.destroy()
    packed.destroy()
    // The reading has ended, with its change stream, before the caller closes the store.
    await records.return(undefined).catch(() => undefined)
  }
}
