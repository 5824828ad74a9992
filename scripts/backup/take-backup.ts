import { createWriteStream } from 'node:fs'
import { open, rename, rm, stat } from 'node:fs/promises'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createGzip } from 'node:zlib'
import { type BackupProgress, type BackupTotals, readBackup } from '#shared/db/backup/backup-source.ts'
import type { Database } from '#shared/db/connection/connect.ts'
import { type ArchiveSecret, sealArchive } from '#shared/runtime/secrets/archive-cipher.ts'

export interface TakenBackup extends BackupTotals {
  readonly file: string
  readonly bytes: number
}

/**
 * Writes an encrypted archive of the installation as of one moment. The file appears under its name only when it is complete and on disk; it is
 * readable by this user only. Throws when there is a file of that name already.
 */
export async function takeBackup(
  db: Database,
  options: {
    readonly file: string
    readonly secret: ArchiveSecret
    readonly version: string
    readonly onProgress: (progress: BackupProgress) => void
  },
): Promise<TakenBackup> {
  const { file, secret, version, onProgress } = options
  const partial = `${file}.partial`
  const isTaken = await stat(file).then(
    () => true,
    () => false,
  )
  if (isTaken) throw new Error(`${file} exists already`)
  let totals: BackupTotals | undefined
  const onEnd = (ended: BackupTotals): void => {
    totals = ended
  }
  try {
    await pipeline(
      Readable.from(readBackup(db, { onProgress, onEnd }), { objectMode: false }),
      createGzip({ level: 6 }),
      (source: AsyncIterable<Buffer>) =>
        sealArchive(source, secret, { paymesh: version, database: db.name }, new Date()),
      createWriteStream(partial, { mode: 0o600 }),
    )
    await flush(partial)
    await rename(partial, file)
  } catch (error) {
    await rm(partial, { force: true })
    throw error
  }
  if (totals === undefined) throw new Error('the back-up ended without its end')
  return { ...totals, file, bytes: (await stat(file)).size }
}

async function flush(file: string): Promise<void> {
  const handle = await open(file, 'r')
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}
