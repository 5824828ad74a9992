import { createHash, type Hash } from 'node:crypto'
import mongoose from 'mongoose'
import { type ArchiveControl, recordBytes } from './archive-records.ts'

/** Progress of a back-up. */
export interface BackupProgress {
  /** Collection that was read last. */
  readonly collection: string
  /** Documents in the archive so far, those that were read again included. */
  readonly documents: number
  /** Their BSON, bytes. */
  readonly bytes: number
}

/** Documents of one collection as raw BSON, and ids of documents that no longer exist. */
export interface DocumentBatch {
  readonly name: string
  readonly documents: readonly Buffer[]
  readonly gone: readonly string[]
}

/** Documents of each collection at the moment of a back-up; null where the store could no longer count them. */
export type StoredCounts = Readonly<Record<string, number | null>>

/** Writes the records of an archive. */
export type ArchiveWriter = ReturnType<typeof createArchiveWriter>

/** Turns batches into bytes, and keeps the sums that the archive declares at its end. */
export function createArchiveWriter(onProgress: (progress: BackupProgress) => void) {
  const sums = new Map<string, { documents: number; gone: number; readonly hash: Hash }>()
  const total = { documents: 0, bytes: 0, changed: 0 }
  let pass = 0
  let isPassUsed = false
  const control = (one: ArchiveControl): Buffer => recordBytes({ kind: 'control', control: one })
  const sumOf = (name: string) => {
    const sum = sums.get(name) ?? { documents: 0, gone: 0, hash: createHash('sha256') }
    sums.set(name, sum)
    return sum
  }
  return {
    control,
    /** Begins the next pass, unless this one is empty. Within a pass every id occurs once; a later pass takes precedence. */
    nextPass: () => {
      if (isPassUsed) pass += 1
      isPassUsed = false
    },
    batch: ({ name, documents, gone }: DocumentBatch, isChange: boolean = false) => {
      isPassUsed = true
      const sum = sumOf(name)
      const ids = gone.map((_id) => Buffer.from(mongoose.mongo.BSON.serialize({ _id })))
      for (const bytes of [...documents, ...ids]) {
        sum.hash.update(bytes)
        total.bytes += bytes.length
      }
      sum.documents += documents.length
      sum.gone += ids.length
      total.documents += documents.length
      if (isChange) total.changed += documents.length + ids.length
      onProgress({ collection: name, documents: total.documents, bytes: total.bytes })
      return Buffer.concat([
        control({ t: 'batch', name, pass, documents: documents.length, gone: ids.length }),
        ...documents.map((bytes) => recordBytes({ kind: 'document', bytes })),
        ...ids.map((bytes) => recordBytes({ kind: 'gone', bytes })),
      ])
    },
    /** Documents written with `isChange`, those that no longer exist included. */
    changed: () => total.changed,
    /** Sums of every collection, for the last record. Call it once. */
    sums: (names: readonly string[], counts: StoredCounts) =>
      Object.fromEntries(
        names.map((name) => {
          const { documents, gone, hash } = sumOf(name)
          return [name, { documents, gone, sha256: hash.digest('hex'), stored: counts[name] ?? null }]
        }),
      ),
  }
}
