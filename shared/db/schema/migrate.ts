import type mongoose from 'mongoose'
import type { CollectionModel, IndexDefinition } from '#shared/db/connection/collection-model.ts'
import type { Database } from '#shared/db/connection/connect.ts'
import { readRestoreState } from '#shared/db/restore/restore-state.ts'
import { MIGRATIONS, NEWEST_SCHEMA } from './migrations/list.ts'
import { runMigrations } from './migrations/run-migrations.ts'
import { MODELS } from './models.ts'
import { verifySchemaVersion } from './schema-version.ts'

/** What `migrate` had to create; empty lists mean that everything was there. */
export interface MigrationReport {
  readonly collectionsCreated: readonly string[]
  /** `<collection>.<index>` */
  readonly indexesCreated: readonly string[]
  /** Migrations that ran, by number. */
  readonly migrationsRun: readonly number[]
}

type Model = CollectionModel<mongoose.mongo.Document>

/**
 * Runs the migrations that are missing, then creates every missing collection and index. Safe to repeat and to run in several
 * processes at once. Never changes an index: one of the same name with another definition fails loudly, because rebuilding it is an operator's decision.
 */
export async function migrate(db: Database): Promise<MigrationReport> {
  const before = new Set((await missingIndexes(db)).map((missing) => missing.label))
  const existing = await collectionNames(db)
  // Data first: an index may demand what only a migration makes true, or take the place of one that it removes.
  const migrationsRun = await runMigrations(db, MIGRATIONS)
  const collectionsCreated = MODELS.map((model) => model.name).filter((name) => !existing.has(name))
  for (const model of MODELS) {
    const specifications = model.indexes.map((index) => ({ ...index, key: { ...index.key } }))
    // Creating an index creates its collection as well, so no other process can come between the two.
    if (specifications.length > 0) await db.collection(model).createIndexes(specifications)
    else if (!existing.has(model.name)) await createCollection(db, model.name)
  }
  return { collectionsCreated, indexesCreated: [...before], migrationsRun }
}

/**
 * Throws an error that lists every missing index, or says that the data is of another version, and what to run; every process calls it
 * before it starts work.
 */
export async function verifyIndexes(db: Database): Promise<void> {
  if ((await readRestoreState(db))?.state === 'writing') {
    throw new Error(`a restore into database ${db.name} did not end: drop the database and restore again`)
  }
  const missing = await missingIndexes(db)
  if (missing.length === 0) return await verifySchemaVersion(db, NEWEST_SCHEMA)
  throw new Error(
    `database ${db.name} lacks ${missing.length} indexes (${missing.map((one) => one.label).join(', ')}): run paymesh migrate`,
  )
}

async function missingIndexes(db: Database): Promise<readonly { label: string }[]> {
  const lists = await Promise.all(MODELS.map((model) => missingOf(db, model)))
  return lists.flat()
}

async function missingOf(db: Database, model: Model): Promise<readonly { label: string }[]> {
  // Asking for the indexes of a collection that is not there answers an empty list.
  const stored = await db.collection(model).listIndexes().toArray().catch(emptyWhenAbsent)
  const byName = new Map(stored.map((index) => [String(index['name']), index]))
  return model.indexes
    .filter((index) => !isSame(index, byName.get(index.name)))
    .map((index) => ({ label: `${model.name}.${index.name}` }))
}

function isSame(wanted: IndexDefinition, found: mongoose.mongo.Document | undefined): boolean {
  return (
    found !== undefined &&
    JSON.stringify(found['key']) === JSON.stringify(wanted.key) &&
    Boolean(found['unique']) === (wanted.unique ?? false) &&
    JSON.stringify(found['partialFilterExpression']) === JSON.stringify(wanted.partialFilterExpression) &&
    found['expireAfterSeconds'] === wanted.expireAfterSeconds
  )
}

const NAMESPACE_NOT_FOUND = 26
const NAMESPACE_EXISTS = 48

function emptyWhenAbsent(error: unknown): [] {
  if (codeOf(error) === NAMESPACE_NOT_FOUND) return []
  throw error
}

async function createCollection(db: Database, name: string): Promise<void> {
  try {
    await db.connection.getClient().db(db.name).createCollection(name)
  } catch (error) {
    if (codeOf(error) !== NAMESPACE_EXISTS) throw error
  }
}

const codeOf = (error: unknown): unknown => (error instanceof Error && 'code' in error ? error.code : undefined)

async function collectionNames(db: Database): Promise<ReadonlySet<string>> {
  const found = await db.connection.getClient().db(db.name).listCollections({}, { nameOnly: true }).toArray()
  return new Set(found.map((collection) => collection.name))
}
