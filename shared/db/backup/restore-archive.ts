import type mongoose from 'mongoose'
import type { CollectionModel } from '#shared/db/connection/collection-model.ts'
import type { Database } from '#shared/db/connection/connect.ts'
import { INSTALLATION } from '#shared/db/installation/installation-model.ts'
import { RECONCILIATION_FACT } from '#shared/db/reconciliation/reconciliation-repository.ts'
import { ROLLUPS_FACT } from '#shared/db/reports/rollups.ts'
import { LIFE_FACT } from '#shared/db/restore/installation-life-repository.ts'
import { MARKS_FACT } from '#shared/db/restore/marks-copy.ts'
import { RESTORE_FACT } from '#shared/db/restore/restore-state.ts'
import { createCollection } from '#shared/db/schema/create-collection.ts'
import { MODELS } from '#shared/db/schema/models.ts'
import type { ArchiveBatch, ArchiveContents } from './archive-batch.ts'
import { walkArchive } from './archive-contents.ts'
import { BACKUP_MARK } from './backup-moments.ts'
import { CHAIN_FACT } from './change-chain.ts'
import { BACKUP_ATTEMPT_FACT, CHANGES_FACT, VERIFIED_BACKUP_FACT } from './verified-backups.ts'

/** Batches that are written side by side. */
const WIDTH = 3
/** Facts of an earlier restore or back-up do not apply to this one, and restored records are reconciled from the beginning. */
const LEFT_OUT: readonly unknown[] = [
  RESTORE_FACT,
  RECONCILIATION_FACT,
  ROLLUPS_FACT,
  BACKUP_MARK,
  VERIFIED_BACKUP_FACT,
  BACKUP_ATTEMPT_FACT,
  CHAIN_FACT,
  CHANGES_FACT,
  // The restored database is another life, whose marks begin with those of the former ones.
  LIFE_FACT,
  MARKS_FACT,
]

interface Row {
  _id: string
}

/** Throws, and names the collection, unless the database is empty. */
export async function requireEmpty(db: Database): Promise<void> {
  for (const model of MODELS) {
    if ((await db.collection(model).findOne({}, { projection: { _id: 1 } })) === null) continue
    const hint =
      model.name === 'processes' ? 'processes use it, or did a short time ago: stop them and use another database' : ''
    throw new Error(
      `database ${db.name} is not empty (${model.name}${hint === '' ? '' : `: ${hint}`}); an archive is restored into an empty one only`,
    )
  }
}

/**
 * Creates the collections of an empty database, without the indexes and validators that `migrate` adds after the writing: until the last pass was
 * written, two documents may hold the same unique value, a document may be past its life, and one of another version may lack what a migration adds.
 */
export async function prepareCollections(db: Database): Promise<void> {
  const native = db.connection.getClient().db(db.name)
  const found = await native.listCollections({}).toArray()
  const stored = new Map(found.map((one) => [one.name, one as { options?: { validator?: object } }]))
  for (const model of MODELS) {
    const existing = stored.get(model.name)
    if (existing === undefined) {
      await createCollection(db, { name: model.name })
      continue
    }
    await db.collection(model).dropIndexes()
    if (existing.options?.validator !== undefined) await native.command({ collMod: model.name, validator: {} })
  }
}

/** The writing of an archive's documents. A test exchanges it by a wrong one, to show that the wrong one is found. */
export type WriteBatch = (db: Database, batch: ArchiveBatch) => Promise<void>

/**
 * Writes every document of an archive, which was verified before, and throws unless the store then contains exactly as many as at the moment of the
 * archive. The database has no index yet but those of `_id`: while passes are written, documents may contradict each other.
 */
export async function writeArchive(
  db: Database,
  source: AsyncIterable<Uint8Array>,
  onProgress: (collection: string, documents: number) => void,
  write: WriteBatch = writeBatch,
): Promise<ArchiveContents> {
  const leftOut = new Set<unknown>()
  const running = new Set<Promise<void>>()
  let failure: unknown = null
  let documents = 0
  let pass = 0
  const settle = async (most: number): Promise<void> => {
    while (running.size > most) await Promise.race(running)
    if (failure !== null) throw failure
  }
  const contents = await walkArchive(source, async (read) => {
    const batch = read.name === INSTALLATION.name ? withoutLeftOut(read, leftOut) : read
    // Batches of one pass hold different documents, so their order does not matter. A pass begins after the one before has ended.
    await settle(batch.pass === pass ? WIDTH - 1 : 0)
    pass = batch.pass
    const writing: Promise<void> = write(db, batch)
      .catch((error: unknown) => {
        failure ??= error
      })
      .finally(() => running.delete(writing))
    running.add(writing)
    documents += batch.documents.length
    onProgress(batch.name, documents)
  }).finally(async () => await Promise.all(running))
  await settle(0)
  await requireCounts(db, contents, leftOut.size)
  return contents
}

function withoutLeftOut(batch: ArchiveBatch, leftOut: Set<unknown>): ArchiveBatch {
  for (const { _id } of batch.documents) if (LEFT_OUT.includes(_id)) leftOut.add(_id)
  for (const id of batch.gone) leftOut.delete(id)
  return {
    ...batch,
    documents: batch.documents.filter(({ _id }) => !LEFT_OUT.includes(_id)),
    gone: batch.gone.filter((id) => !LEFT_OUT.includes(id)),
  }
}

/** Writes what an archive of changes holds over what is there: none of its documents is new for certain. */
export const writeOver =
  (write: WriteBatch = writeBatch): WriteBatch =>
  async (db, batch) =>
    await write(db, { ...batch, pass: batch.pass + 1 })

/** Writes a batch; that of a later pass replaces what an earlier one wrote. Repeating it changes nothing. */
export async function writeBatch(db: Database, { name, pass, documents, gone }: ArchiveBatch): Promise<void> {
  const model = MODELS.find((one) => one.name === name) as CollectionModel<Row> | undefined
  if (model === undefined) throw new Error(`unknown collection ${name}`)
  if (documents.length === 0 && gone.length === 0) return
  if (pass === 0) {
    await db.collection(model).insertMany(documents as Row[], { ordered: false })
    return
  }
  await db.collection(model).bulkWrite(
    [
      ...documents.map((document) => ({
        replaceOne: { filter: { _id: document['_id'] }, replacement: document as Row, upsert: true },
      })),
      ...gone.map((id) => ({ deleteOne: { filter: { _id: id as string } } })),
    ] as mongoose.mongo.AnyBulkWriteOperation<Row>[],
    { ordered: false },
  )
}

async function requireCounts(db: Database, { counts }: ArchiveContents, leftOut: number): Promise<void> {
  for (const [name, count] of Object.entries(counts)) {
    const model = MODELS.find((one) => one.name === name)
    if (model === undefined || count === null) continue
    const stored = await db.collection(model as CollectionModel<Row>).countDocuments({ _id: { $ne: RESTORE_FACT } })
    const wanted = name === INSTALLATION.name ? count - leftOut : count
    if (stored !== wanted) throw new Error(`${name} has ${stored} documents instead of ${wanted}`)
  }
}
