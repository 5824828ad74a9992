import mongoose from 'mongoose'
import type { Database } from '#shared/db/connection/connect.ts'
import { digestRange, paymentKeyDigest } from './payment-key-digest.ts'
import { FORMER_KEY_INDEX, KEY_INDEX, PAYMENTS } from './payment-model.ts'

type KeyDigest = mongoose.mongo.Binary

/** Filters that find payments by their transfer keys, and the index that must serve them. */
export interface KeyFilters {
  readonly hint: string
  one(key: string): { key: string; keyDigest?: KeyDigest }
  among(keys: readonly string[]): { key: { $in: string[] }; keyDigest?: { $in: KeyDigest[] } }
  /** Keys that begin with this text and a colon. The text names at least a transaction, or the account of a balance increase. */
  beginningWith(prefix: string): {
    key: { $gte: string; $lt: string }
    keyDigest?: { $gte: KeyDigest; $lte: KeyDigest }
  }
}

// ';' follows ':' in ASCII.
const behind = (prefix: string) => ({ $gte: `${prefix}:`, $lt: `${prefix};` })

/** By the text, as long as its unique index exists: then some payments may have no digest yet. */
const BY_TEXT: KeyFilters = {
  hint: FORMER_KEY_INDEX,
  one: (key) => ({ key }),
  among: (keys) => ({ key: { $in: [...keys] } }),
  beginningWith: (prefix) => ({ key: behind(prefix) }),
}

/** By the digest: once the index of the text is gone, every payment has one. The text is compared all the same. */
export const BY_DIGEST: KeyFilters = {
  hint: KEY_INDEX,
  one: (key) => ({ keyDigest: paymentKeyDigest(key), key }),
  among: (keys) => ({ keyDigest: { $in: keys.map(paymentKeyDigest) }, key: { $in: [...keys] } }),
  beginningWith: (prefix) => ({ keyDigest: digestRange(prefix), key: behind(prefix) }),
}

/** Runs `work`, a read or a write that may be repeated, with the filters that find every payment now. */
export type WithKeyFilters = <T>(work: (filters: KeyFilters) => Promise<T>) => Promise<T>

const known = new WeakMap<Database, WithKeyFilters>()

/**
 * Asks by text until the store refuses the hint because that index is gone, from then on by digest. So each command itself finds
 * out which index is complete; a fact that is read before it could be out of date when the command runs.
 */
export function keyFiltersOf(db: Database): WithKeyFilters {
  const found = known.get(db)
  if (found !== undefined) return found
  let isTextIndexed = true
  const run: WithKeyFilters = async (work) => {
    if (isTextIndexed) {
      try {
        return await work(BY_TEXT)
      } catch (error) {
        if (!mayMissIndex(error) || (await hasTextIndex(db))) throw error
        isTextIndexed = false
      }
    }
    return await work(BY_DIGEST)
  }
  known.set(db, run)
  return run
}

/** The filters for commands inside a transaction, which a refused hint would end; found out before it begins. */
export async function keyFiltersNow(db: Database): Promise<KeyFilters> {
  const payments = db.collection(PAYMENTS)
  return await keyFiltersOf(db)(async (filters) => {
    await payments.findOne(filters.one(''), { hint: filters.hint, projection: { _id: 1 } })
    return filters
  })
}

/** BadValue, QueryPlanKilled and NoQueryExecutionPlans: answers to a hint at an index that is missing or was just dropped. */
const HINT_REFUSED: readonly unknown[] = [2, 175, 291]
const NAMESPACE_NOT_FOUND = 26

function mayMissIndex(error: unknown): boolean {
  if (error instanceof mongoose.mongo.MongoBulkWriteError) {
    const failures = Array.isArray(error.writeErrors) ? error.writeErrors : [error.writeErrors]
    return failures.some(({ code }) => HINT_REFUSED.includes(code))
  }
  return error instanceof mongoose.mongo.MongoServerError && HINT_REFUSED.includes(error.code)
}

/** Whether the unique index of the text exists. Throws when the store cannot be read. */
export async function hasTextIndex(db: Database): Promise<boolean> {
  try {
    const indexes = await db.collection(PAYMENTS).listIndexes().toArray()
    return indexes.some(({ name }) => name === FORMER_KEY_INDEX)
  } catch (error) {
    if (error instanceof mongoose.mongo.MongoServerError && error.code === NAMESPACE_NOT_FOUND) return false
    throw error
  }
}
