import mongoose from 'mongoose'
import { copyDocument, type Doc, equal, unsupported } from './bson-values.ts'
import { type BulkFailure, type BulkOutcome, bulkError, emptyOutcome, serverError } from './driver-errors.ts'
import { type FindShape, find, project } from './reads.ts'
import type { StoredCollection } from './stored-collection.ts'
import { applyUpdate, type Update, upsertSeed } from './update.ts'

const IMMUTABLE_FIELD = 66

/** A write of documents that a filter finds. */
export interface UpdateStep {
  readonly filter: Doc
  readonly update: Update
  readonly upsert: boolean
  readonly many: boolean
}

/** One step of a bulk write. */
export type BulkStep =
  | { readonly kind: 'insert'; readonly document: Doc }
  | ({ readonly kind: 'update' } & UpdateStep)
  | { readonly kind: 'delete'; readonly filter: Doc; readonly many: boolean }

/** What an update did. */
export interface UpdateOutcome {
  readonly acknowledged: true
  readonly modifiedCount: number
  readonly upsertedId: unknown
  readonly upsertedCount: number
  readonly matchedCount: number
}

/** Inserts a document that was copied before, its `_id` in the first place; throws a duplicate key error. */
export function insert(collection: StoredCollection, document: Doc): void {
  const { _id: id, ...rest } = document
  // Real ones are random numbers: nothing that a replay could repeat.
  if (id === undefined || id === null) throw unsupported('insert of a document without _id')
  collection.put(null, { _id: id, ...rest })
}

/** Updates the first or every document that matches, at most `upTo`, or inserts one. Each document is changed atomically. */
export function update(collection: StoredCollection, step: UpdateStep, now: Date, upTo = Infinity): UpdateOutcome {
  const found = collection.find(step.filter, now, step.many ? upTo : 1)
  let modifiedCount = 0
  for (const before of found) if (change(collection, before, step.update, now) !== before) modifiedCount++
  const inserted = found.length === 0 && step.upsert ? upsert(collection, step, now) : null
  return {
    acknowledged: true,
    modifiedCount,
    upsertedId: inserted?.['_id'] ?? null,
    upsertedCount: inserted === null ? 0 : 1,
    matchedCount: found.length,
  }
}

function change(collection: StoredCollection, before: Doc, by: Update, now: Date): Doc {
  const after = applyUpdate(before, by, { now, inserting: false })
  if (after === before) return before
  if (!equal(after['_id'], before['_id'])) {
    throw serverError(IMMUTABLE_FIELD, "Performing an update on the path '_id' would modify the immutable field '_id'")
  }
  collection.put(before, after)
  return after
}

function upsert(collection: StoredCollection, { filter, update: by }: UpdateStep, now: Date): Doc {
  const made = applyUpdate(upsertSeed(filter), by, { now, inserting: true })
  insert(collection, made)
  return made
}

/** Changes one document and gives a copy of it as it was before or is after; null when none matches. */
export function findOneAndUpdate(
  collection: StoredCollection,
  filter: Doc,
  by: Update,
  shape: FindShape & { readonly after: boolean },
  now: Date,
): Record<string, unknown> | null {
  const [before] = collection.find(filter, now, 1)
  if (before === undefined) return null
  const after = change(collection, before, by, now)
  return project(shape.after ? after : before, shape.projection)
}

/** Deletes the first or every document that matches, at most `upTo`; how many went. */
export function remove(collection: StoredCollection, filter: Doc, many: boolean, now: Date, upTo = Infinity): number {
  const found = collection.find(filter, now, many ? upTo : 1)
  for (const document of found) collection.put(document, null)
  return found.length
}

/**
 * Applies the first `upTo` steps. A step that the server refuses ends an ordered write and is passed over by an unordered one;
 * then a bulk write error is thrown.
 */
export function bulk(
  collection: StoredCollection,
  steps: readonly BulkStep[],
  ordered: boolean,
  now: Date,
  upTo = Infinity,
): BulkOutcome {
  const outcome = emptyOutcome()
  const failures: BulkFailure[] = []
  for (const [index, step] of steps.entries()) {
    if (index >= upTo) break
    try {
      applyStep(collection, step, index, outcome, now)
    } catch (error) {
      if (!(error instanceof mongoose.mongo.MongoServerError)) throw error
      failures.push({ index, error })
      if (ordered) break
    }
  }
  if (failures.length > 0) throw bulkError(failures, outcome)
  return outcome
}

function applyStep(collection: StoredCollection, step: BulkStep, index: number, outcome: BulkOutcome, now: Date): void {
  if (step.kind === 'insert') {
    insert(collection, step.document)
    outcome.insertedCount++
    outcome.insertedIds[index] = step.document['_id']
  } else if (step.kind === 'update') {
    const done = update(collection, step, now)
    outcome.matchedCount += done.matchedCount
    outcome.modifiedCount += done.modifiedCount
    outcome.upsertedCount += done.upsertedCount
    if (done.upsertedCount > 0) outcome.upsertedIds[index] = done.upsertedId
  } else {
    outcome.deletedCount += remove(collection, step.filter, step.many, now)
  }
}

/** Copies what a caller gave at the time of the call, as the driver's serialisation does. */
export function copyUpdate(by: Update): Update {
  if (Array.isArray(by)) return by.map(copyDocument)
  for (const name in by) {
    if (!name.startsWith('$'))
      throw new mongoose.mongo.MongoInvalidArgumentError('Update document requires atomic operators')
  }
  if (Object.keys(by).length === 0) {
    throw new mongoose.mongo.MongoInvalidArgumentError('Update document requires atomic operators')
  }
  return copyDocument(by as Doc)
}

/** A find with one answer. */
export const findOne = (
  collection: StoredCollection,
  filter: Doc,
  shape: FindShape,
  now: Date,
): Record<string, unknown> | null => find(collection, filter, { ...shape, limit: 1 }, now)[0] ?? null
