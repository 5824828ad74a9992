import { setTimeout as wait } from 'node:timers/promises'
import mongoose from 'mongoose'
import type { Database } from '#shared/db/connection/connect.ts'

/** Documents of one read of the store. */
export const BATCH = 500
/** Times that a read is repeated without any progress, and the pause before the first repetition; later ones wait longer. */
const ATTEMPTS = 8
const PAUSE_MS = 250
/**
 * Codes after which the same read may succeed: those of retryable reads (MongoDB driver specification "Retryable Reads"), and a cursor
 * that was lost (43) or killed (237) with its server.
 */
const PASSING = new Set<unknown>([6, 7, 43, 89, 91, 134, 189, 237, 262, 9001, 10107, 11600, 11602, 13435, 13436])

/** Read concerns of a back-up: the newest majority state at or after a moment, or exactly the state at a moment. */
export type ReadMoment =
  | { readonly level: 'majority'; readonly afterClusterTime: mongoose.mongo.Timestamp }
  | { readonly level: 'snapshot'; readonly atClusterTime: mongoose.mongo.Timestamp }

/** Runs `find` or `aggregate` and returns documents as raw BSON, in batches. Each batch is copied: it may be kept. */
export async function* readRaw(
  db: Database,
  command: mongoose.mongo.Document,
  readConcern: ReadMoment,
): AsyncGenerator<Buffer> {
  const native = db.connection.getClient().db(db.name)
  const options = { raw: true } as mongoose.mongo.RunCursorCommandOptions
  const cursor = native.runCursorCommand({ ...command, readConcern }, options).setBatchSize(BATCH)
  try {
    for await (const found of cursor) yield found as unknown as Buffer
  } finally {
    await cursor.close()
  }
}

/**
 * Runs a read again when the store failed in a way that passes: an election, a lost connection or cursor. `read` continues after its
 * last result itself, and calls `onProgress` for each, which resets the count of attempts.
 */
export async function* persist<T>(read: () => AsyncGenerator<T>): AsyncGenerator<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      for await (const one of read()) {
        attempt = 1
        yield one
      }
      return
    } catch (error) {
      if (attempt >= ATTEMPTS || !isPassing(error)) throw error
      await wait(PAUSE_MS * attempt)
    }
  }
}

/** Whether an error ends without our doing: a lost connection, an election. */
export function isPassing(error: unknown): boolean {
  if (error instanceof mongoose.mongo.MongoNetworkError) return true
  return error instanceof mongoose.mongo.MongoServerError && PASSING.has(error.code)
}
