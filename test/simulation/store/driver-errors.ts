import mongoose from 'mongoose'
import { copyDocument, type Doc } from './bson-values.ts'

const DUPLICATE_KEY = 11_000
const WRITE_CONFLICT = 112

type ServerError = mongoose.mongo.MongoServerError

/** An answer of the server that refuses a command, as the driver throws it. */
export function serverError(code: number, message: string, fields: Doc = {}): ServerError {
  return new mongoose.mongo.MongoServerError({ message, errmsg: message, code, ...fields })
}

/** A unique index refused a document: what the repositories read of it is `code`, `keyPattern` and `keyValue`. */
export function duplicateKey(collection: string, index: string, keyPattern: Doc, keyValue: Doc): ServerError {
  const message = `E11000 duplicate key error collection: ${collection} index: ${index} dup key: ${JSON.stringify(keyValue)}`
  return serverError(DUPLICATE_KEY, message, { keyPattern: copyDocument(keyPattern), keyValue: copyDocument(keyValue) })
}

/** Another transaction changed a document of this one first: `withTransaction` runs its callback again. */
export function writeConflict(): ServerError {
  return serverError(WRITE_CONFLICT, 'WriteConflict error: this operation conflicted with another operation', {
    errorLabels: ['TransientTransactionError'],
  })
}

/** What a bulk write did; the members of the driver's result that exist before and after a failure. */
export interface BulkOutcome {
  insertedCount: number
  matchedCount: number
  modifiedCount: number
  deletedCount: number
  upsertedCount: number
  readonly upsertedIds: Record<number, unknown>
  readonly insertedIds: Record<number, unknown>
}

/** A bulk outcome before its first step. */
export const emptyOutcome = (): BulkOutcome => ({
  insertedCount: 0,
  matchedCount: 0,
  modifiedCount: 0,
  deletedCount: 0,
  upsertedCount: 0,
  upsertedIds: {},
  insertedIds: {},
})

/** One refused step of a bulk write. */
export interface BulkFailure {
  readonly index: number
  readonly error: ServerError
}

/** The error of a bulk write some of whose steps were refused; the others were applied, up to the first one when ordered. */
export function bulkError(failures: readonly BulkFailure[], outcome: BulkOutcome): mongoose.mongo.MongoBulkWriteError {
  const writeErrors = failures.map(({ index, error }) => ({ index, code: error.code, errmsg: error.message }))
  const result = { ...outcome, getWriteErrors: () => writeErrors, getWriteConcernError: () => undefined }
  const first = failures[0]
  return new mongoose.mongo.MongoBulkWriteError(
    { message: first?.error.message ?? '', code: first?.error.code ?? 0, writeErrors } as never,
    result as never,
  )
}
