import type mongoose from 'mongoose'
import type { Database } from '#shared/db/connection/connect.ts'
import { INSTALLATION } from '#shared/db/installation/installation-model.ts'
import { migrate } from '#shared/db/schema/migrate.ts'
import { MODELS } from '#shared/db/schema/models.ts'
import { hashesOf } from './store-hashes.ts'

type Row = mongoose.mongo.Document & { readonly _id: string }

/** A migrated database before anybody used it: what `migrate` notes in it, and its collections with their indexes. */
interface EmptyDatabase {
  readonly notes: readonly Row[]
  readonly schema: string
}

/** Fresh databases of this worker by name; its files use the same few. */
const known = new Map<string, EmptyDatabase>()
/** The hash of a collection without documents: MD5 of nothing. */
const NOTHING = 'd41d8cd98f00b204e9800998ecf8427e'

/**
 * Leaves the collections and indexes that `migrate` creates, with what it notes, and nothing else. Between tests use this and never
 * `dropDatabase`: mongod keeps each dropped table as an open file for a while, and 160 of them for every test end
 * in more open files than a process may have. A database that a file of this worker has used is checked and not migrated again, unless
 * a test took a collection or an index away. Asks the store a handful of questions: a question for each collection cost more than most tests.
 */
export async function emptyDatabase(db: Database): Promise<void> {
  const ours = new Set(MODELS.map((model) => model.name))
  const used = [...(await hashesOf(db))].filter(([name, hash]) => !ours.has(name) || hash !== NOTHING)
  await Promise.all(
    used.map(([name]) => {
      const collection = db.connection.collection(name)
      return ours.has(name) ? collection.deleteMany({}) : collection.drop()
    }),
  )
  const installation = db.collection<Row>(INSTALLATION as never)
  const fresh = known.get(db.name)
  if (fresh !== undefined) {
    await installation.insertMany(fresh.notes.map((row) => ({ ...row, changedAt: new Date() })))
    if ((await schemaOf(db)) === fresh.schema) return
  }
  await migrate(db)
  known.set(db.name, { notes: await installation.find().toArray(), schema: await schemaOf(db) })
}

/** Collections with the definitions of their indexes, as one text that is equal for equal schemas. */
async function schemaOf(db: Database): Promise<string> {
  const catalog = await db.connection
    .getClient()
    .db('admin')
    .aggregate<{ readonly name: string; readonly md?: { readonly indexes?: readonly { readonly spec: object }[] } }>([
      { $listCatalog: {} },
      { $match: { db: db.name } },
      { $project: { name: 1, 'md.indexes.spec': 1 } },
    ])
    .toArray()
  return catalog
    .map(({ name, md }) => `${name} ${(md?.indexes ?? []).map(({ spec }) => JSON.stringify(spec)).sort()}`)
    .sort()
    .join('\n')
}
