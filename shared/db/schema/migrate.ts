import type mongoose from 'mongoose'
import type { CollectionModel, IndexDefinition } from '#shared/db/connection/collection-model.ts'
import type { Database } from '#shared/db/connection/connect.ts'
import { readRestoreState } from '#shared/db/restore/restore-state.ts'
import { createCollection } from './create-collection.ts'
import { MIGRATIONS, NEWEST_SCHEMA } from './migrations/list.ts'
import { runMigrations } from './migrations/run-migrations.ts'
import { MODELS } from './models.ts'
import { verifySchemaVersion } from './schema-version.ts'

/** What `migrate` had to create; empty lists mean that nothing was missing. */
export interface MigrationReport {
  readonly collectionsCreated: readonly string[]
  /** `<collection>.<index>` */
  readonly indexesCreated: readonly string[]
  /** Migrations that ran, by number. */
  readonly migrationsRun: readonly number[]
}

type Model = CollectionModel<mongoose.mongo.Document>

/**
 * Runs the migrations that are missing, then creates every missing collection and index and sets the validators. Safe to repeat and to run in several
 * processes at once. Never changes an index: one of the same name with another definition fails loudly, because rebuilding it is an operator's decision.
 * `onProgress` gets a line before and after each step that takes long on a large database.
 */
export async function migrate(
  db: Database,
  onProgress: (line: string) => void = () => undefined,
): Promise<MigrationReport> {
  const before = new Set((await missingIndexes(db)).map((missing) => missing.label))
  const existing = await collectionNames(db)
  // Data first: an index may require the result of a migration, or replace one that it removes.
  const migrationsRun = await runMigrations(db, MIGRATIONS, undefined, onProgress)
  const collectionsCreated = MODELS.map((model) => model.name).filter((name) => !existing.has(name))
  for (const model of MODELS) {
    const specifications = model.indexes.map((index) => ({ ...index, key: { ...index.key } }))
    if (!existing.has(model.name)) await createCollection(db, model)
    if (specifications.length === 0) continue
    const missing = model.indexes.map(({ name }) => name).filter((name) => before.has(`${model.name}.${name}`))
    const built =
      existing.has(model.name) && missing.length > 0 ? await beginBuild(db, model, missing, onProgress) : null
    await db.collection(model).createIndexes(specifications)
    built?.()
  }
  await setValidators(db, onProgress)
  return { collectionsCreated, indexesCreated: [...before], migrationsRun }
}

/** Throws, with what to do, for a database in which a restore was interrupted. */
export async function requireWholeRestore(db: Database): Promise<void> {
  if ((await readRestoreState(db))?.state === 'writing') {
    throw new Error(`a restore into database ${db.name} did not end: drop the database and restore again`)
  }
}

/** The database has none of our indexes: `paymesh migrate` never ran on it, or its name is wrong. */
export class NotMigrated extends Error {
  constructor(database: string) {
    super(`database ${database} is not migrated yet: run paymesh migrate`)
  }
}

/**
 * Throws `NotMigrated`, or an error that lists every missing index, or reports another data version, and the command to run; every process calls it
 * before it starts work.
 */
export async function verifyIndexes(db: Database): Promise<void> {
  await requireWholeRestore(db)
  const missing = await missingIndexes(db)
  if (missing.length === 0) return await verifySchemaVersion(db, NEWEST_SCHEMA)
  if (missing.length === MODELS.flatMap(({ indexes }) => indexes).length) {
    throw new NotMigrated(db.name)
  }
  throw new Error(
    `database ${db.name} lacks ${missing.length} indexes (${missing.map((one) => one.label).join(', ')}): run paymesh migrate`,
  )
}

async function missingIndexes(db: Database): Promise<readonly { label: string }[]> {
  const lists = await Promise.all(MODELS.map((model) => missingOf(db, model)))
  return lists.flat()
}

async function missingOf(db: Database, model: Model): Promise<readonly { label: string }[]> {
  // Listing the indexes of a missing collection returns an empty list.
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

function emptyWhenAbsent(error: unknown): [] {
  if (codeOf(error) === NAMESPACE_NOT_FOUND) return []
  throw error
}

/** Reports a build that starts; the returned function reports its end. */
async function beginBuild(
  db: Database,
  model: Model,
  missing: readonly string[],
  onProgress: (line: string) => void,
): Promise<() => void> {
  const documents = await db.collection(model).estimatedDocumentCount()
  const begun = performance.now()
  onProgress(`${model.name}: building ${missing.join(', ')} over about ${documents} documents`)
  return () => onProgress(`${model.name}: built in ${((performance.now() - begun) / 1_000).toFixed(1)} s`)
}

const codeOf = (error: unknown): unknown => (error instanceof Error && 'code' in error ? error.code : undefined)

async function collectionNames(db: Database): Promise<ReadonlySet<string>> {
  const found = await db.connection.getClient().db(db.name).listCollections({}, { nameOnly: true }).toArray()
  return new Set(found.map((collection) => collection.name))
}

/** MongoDB: the user lacks the privilege. */
const UNAUTHORIZED = 13

/**
 * Lets the store refuse documents that the collections' fields do not describe, where its validator is another one or missing: after a
 * release that changed a field, and after a restore. Safe to repeat. Without the privilege `collMod` nothing changes, and `onProgress` gets a
 * line: the product writes only what the types of the same fields permit.
 */
export async function setValidators(db: Database, onProgress: (line: string) => void): Promise<void> {
  const native = db.connection.getClient().db(db.name)
  const found = await native.listCollections({}).toArray()
  const stored = new Map(
    found.map((one) => [one.name, (one as { options?: { validator?: object } }).options?.validator]),
  )
  for (const { name, validator } of MODELS) {
    if (validator === undefined) continue
    if (JSON.stringify(stored.get(name)) === JSON.stringify(validator)) continue
    try {
      await native.command({ collMod: name, validator, validationLevel: 'strict', validationAction: 'error' })
    } catch (error) {
      if (!(error instanceof Error && 'code' in error && error.code === UNAUTHORIZED)) throw error
      onProgress(`${name}: the store does not let this user set a validator (collMod: ${error.message})`)
    }
  }
}
