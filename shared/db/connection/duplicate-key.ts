import mongoose from 'mongoose'

const DUPLICATE_KEY = 11_000

/** The indexed fields that refused an insert or update, or null when the error is not a duplicate key (server code 11000). */
export function duplicateKeyFields(error: unknown): ReadonlySet<string> | null {
  if (!(error instanceof mongoose.mongo.MongoServerError) || error.code !== DUPLICATE_KEY) return null
  const pattern: unknown = error['keyPattern']
  return new Set(typeof pattern === 'object' && pattern !== null ? Object.keys(pattern) : [])
}

/** Runs a write of one document; false when a unique index refused it, because the document exists. Any other failure is thrown. */
export async function unlessTaken(write: () => Promise<unknown>): Promise<boolean> {
  try {
    await write()
    return true
  } catch (error) {
    if (duplicateKeyFields(error) === null) throw error
    return false
  }
}

/**
 * Runs an unordered bulk insert and ignores duplicates: missing rows are inserted, existing rows stay unchanged.
 * Any other failure is thrown, because then the caller cannot assume that its rows are durable.
 */
export async function ignoringDuplicates(insert: () => Promise<unknown>): Promise<void> {
  await refusedDuplicates(insert)
}

/** Like `ignoringDuplicates`; returns the positions in the batch that were refused because they exist. */
export async function refusedDuplicates(insert: () => Promise<unknown>): Promise<readonly number[]> {
  try {
    await insert()
    return []
  } catch (error) {
    const duplicates = bulkDuplicates(error)
    if (duplicates === null) throw error
    return duplicates
  }
}

/** Positions in the batch that hit a unique index, or null when the bulk write failed for any other reason as well. */
export function bulkDuplicates(error: unknown): readonly number[] | null {
  if (!(error instanceof mongoose.mongo.MongoBulkWriteError)) return null
  const failures = Array.isArray(error.writeErrors) ? error.writeErrors : [error.writeErrors]
  const duplicates = failures.filter((failure) => failure.code === DUPLICATE_KEY)
  const concernFailed = error.result.getWriteConcernError() !== undefined
  return duplicates.length === failures.length && failures.length > 0 && !concernFailed
    ? duplicates.map((failure) => failure.index)
    : null
}
