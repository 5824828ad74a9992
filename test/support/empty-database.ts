import type mongoose from 'mongoose'
import type { Database } from '#shared/db/connection/connect.ts'
import { INSTALLATION } from '#shared/db/installation/installation-model.ts'
import { migrate, verifyIndexes } from '#shared/db/schema/migrate.ts'
import { MODELS } from '#shared/db/schema/models.ts'

type Row = mongoose.mongo.Document & { readonly _id: string }

/** What `migrate` notes in a new database, by the database's name; the files of a worker use the same few. */
const notes = new Map<string, readonly Row[]>()

/**
 * Leaves the collections and indexes that `migrate` creates, with what it notes, and nothing else. Between tests use this and never
 * `dropDatabase`: mongod keeps each dropped table as an open file for five minutes, and 160 of them for every test end
 * in more open files than a process may have. A database that a file of this worker has used is checked and not migrated again, unless
 * a test took an index away.
 */
export async function emptyDatabase(db: Database): Promise<void> {
  const ours = new Set(MODELS.map((model) => model.name))
  const found = await db.connection.listCollections()
  await Promise.all(
    found.map(({ name }) => {
      const collection = db.connection.collection(name)
      return ours.has(name) ? collection.deleteMany({}) : collection.drop()
    }),
  )
  const auditWrite = notes.get(db.name)
  if (auditWrite !== undefined) {
    await db
      .collection<Row>(INSTALLATION as never)
      .insertMany(auditWrite.map((row) => ({ ...row, changedAt: new Date() })))
    if (await isWhole(db)) return
  }
  await migrate(db)
  notes.set(
    db.name,
    await db
      .collection<Row>(INSTALLATION as never)
      .find()
      .toArray(),
  )
}

async function isWhole(db: Database): Promise<boolean> {
  return await verifyIndexes(db).then(
    () => true,
    () => false,
  )
}
