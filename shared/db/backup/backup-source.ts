import { createHash } from 'node:crypto'
import { setTimeout as wait } from 'node:timers/promises'
import mongoose from 'mongoose'
import { classOf } from '#shared/db/connection/collection-class.ts'
import type { CollectionModel } from '#shared/db/connection/collection-model.ts'
import type { Database } from '#shared/db/connection/connect.ts'
import { MODELS } from '#shared/db/schema/models.ts'
import { schemaVersion } from '#shared/db/schema/schema-version.ts'
import { recordBytes } from './archive-records.ts'

const BATCH = 500
const ATTEMPTS = 10
const SNAPSHOT_TOO_OLD = 239
const SNAPSHOT_UNAVAILABLE = 246

/** How far a back-up is. */
export interface BackupProgress {
  readonly collection: string
  readonly documents: number
}

/** What a back-up holds. */
export interface BackupTotals {
  readonly takenAt: Date
  readonly counts: Readonly<Record<string, number>>
  /** Collections of the database that this version does not know; they are not in the archive. */
  readonly ignored: readonly string[]
}

interface Raw {
  _id: string
}

/**
 * Every document of every kept collection as of one moment, as records of an archive; the last thing it does is tell `onEnd`. All reads
 * share one snapshot of the store (read concern `snapshot` at one cluster time), which the store keeps for
 * `minSnapshotHistoryWindowInSeconds`, five minutes unless it was told otherwise: reading longer than that fails with a message.
 */
export async function* readBackup(
  db: Database,
  { onProgress, onEnd }: { onProgress(progress: BackupProgress): void; onEnd(totals: BackupTotals): void },
): AsyncGenerator<Buffer> {
  const models = MODELS.filter(({ name }) => classOf(name).backup === 'kept')
  const { session, takenAt } = await openSnapshot(db, models)
  try {
    const version = await schemaVersion(db)
    yield recordBytes({
      kind: 'control',
      control: { t: 'begin', takenAt: takenAt.toISOString(), schemaVersion: version },
    })
    const counts: Record<string, number> = {}
    for (const model of models) {
      yield* readCollection(db, model, session, (documents) => {
        counts[model.name] = documents
        onProgress({ collection: model.name, documents })
      })
    }
    const documents = Object.values(counts).reduce((sum, count) => sum + count, 0)
    yield recordBytes({ kind: 'control', control: { t: 'end', collections: models.length, documents } })
    onEnd({ takenAt, counts, ignored: await unknownCollections(db) })
  } catch (error) {
    throw codeOf(error) === SNAPSHOT_TOO_OLD ? tooSlow(error) : error
  } finally {
    await session.endSession()
  }
}

async function* readCollection(
  db: Database,
  model: CollectionModel<mongoose.mongo.Document>,
  session: mongoose.mongo.ClientSession,
  tell: (documents: number) => void,
): AsyncGenerator<Buffer> {
  yield recordBytes({ kind: 'control', control: { t: 'collection', name: model.name } })
  const hash = createHash('sha256')
  let count = 0
  const cursor = db
    .collection(model as CollectionModel<Raw>)
    .find({}, { session, raw: true, batchSize: BATCH, readConcern: { level: 'snapshot' } })
  for await (const found of cursor) {
    const bytes = Buffer.from(found as unknown as Uint8Array)
    hash.update(bytes)
    count += 1
    if (count % BATCH === 0) tell(count)
    yield recordBytes({ kind: 'document', bytes })
  }
  tell(count)
  const control = { t: 'collection_end', name: model.name, count, sha256: hash.digest('hex') } as const
  yield recordBytes({ kind: 'control', control })
}

/** A session at one moment at which every collection can be read. One that was made a moment ago cannot yet. */
async function openSnapshot(
  db: Database,
  models: readonly CollectionModel<mongoose.mongo.Document>[],
): Promise<{ readonly session: mongoose.mongo.ClientSession; readonly takenAt: Date }> {
  const native = db.connection.getClient().db(db.name)
  for (let attempt = 1; ; attempt += 1) {
    const session = db.connection.getClient().startSession({ snapshot: true })
    // The first read below fixes the moment, so it is not before this.
    const { localTime: takenAt } = await native.command({ hello: 1 })
    try {
      for (const model of models) {
        await db.collection(model).findOne({}, { session, readConcern: { level: 'snapshot' }, projection: { _id: 1 } })
      }
      return { session, takenAt }
    } catch (error) {
      await session.endSession()
      if (codeOf(error) !== SNAPSHOT_UNAVAILABLE || attempt === ATTEMPTS) throw error
      await wait(500)
    }
  }
}

async function unknownCollections(db: Database): Promise<readonly string[]> {
  const found = await db.connection.getClient().db(db.name).listCollections({}, { nameOnly: true }).toArray()
  const known = new Set(MODELS.map(({ name }) => name))
  return found.map(({ name }) => name).filter((name) => !known.has(name) && !name.startsWith('system.'))
}

const codeOf = (error: unknown): unknown => (error instanceof mongoose.mongo.MongoServerError ? error.code : undefined)

function tooSlow(cause: unknown): Error {
  return new Error(
    'Reading took longer than the store keeps its past. Raise the server parameter minSnapshotHistoryWindowInSeconds for the time of a back-up, or take snapshots of the file system instead.',
    { cause },
  )
}
