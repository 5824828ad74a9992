import type mongoose from 'mongoose'

/** Contents of an archive, as declared and verified. */
export interface ArchiveContents {
  /** The moment whose state the archive holds, ISO 8601. */
  readonly takenAt: string
  /** The same moment as the store's cluster time: seconds and the number within the second. */
  readonly clusterTime: readonly [number, number]
  readonly schemaVersion: number
  /** The back-up that made the archive, as named in the audit log. */
  readonly backupId: string
  /** Documents of each collection at that moment; null where they were not counted: in changes, and where the store could not any more. */
  readonly counts: Readonly<Record<string, number | null>>
  /** Documents in the archive. More than at that moment when some were read again because they changed. */
  readonly documents: number
}

/** Documents of one collection, in the order of the archive. */
export interface ArchiveBatch {
  readonly name: string
  /** Batches of one pass hold different documents; those of a later pass take precedence over those of an earlier one. */
  readonly pass: number
  readonly documents: readonly mongoose.mongo.Document[]
  /** Ids of documents that do not exist, although an earlier pass may hold them. */
  readonly gone: readonly unknown[]
}
