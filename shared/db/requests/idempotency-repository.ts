import type { Database } from '#shared/db/connection/connect.ts'
import { toDate, toMs } from '#shared/db/connection/dates.ts'
import { unlessTaken } from '#shared/db/connection/duplicate-key.ts'
import { NEWEST } from '#shared/db/connection/newest.ts'
import type { Ms } from '#shared/domain/invoice/model.ts'
import {
  IDEMPOTENCY_KEYS,
  IDEMPOTENCY_LIFE_MS,
  type IdempotencyDocument,
  type IdempotencyRecord,
} from './idempotency-model.ts'

/** Idempotent operations on MongoDB. The unique `_id` is the guard; lease and token only decide who may finish. */
export function createIdempotencyRepository(db: Database) {
  const operations = db.collection(IDEMPOTENCY_KEYS)

  const insert = (record: IdempotencyDocument): Promise<boolean> => unlessTaken(() => operations.insertOne(record))

  return {
    /** Begins or resumes an operation. `begun` and `resumed` return a fencing token; `done` returns the stored response. */
    begin: async (
      id: string,
      fingerprint: string,
      resourceId: string,
      at: Ms,
      leaseMs: number,
    ): Promise<
      | { outcome: 'begun' | 'resumed'; resourceId: string; fencingToken: number }
      | { outcome: 'done'; response: { status: number; body: string } }
      | { outcome: 'mismatch' }
      | { outcome: 'in_progress' }
    > => {
      const leaseUntil = toDate(at + leaseMs)
      const fresh = {
        _id: id,
        fingerprint,
        resourceId,
        fencingToken: 1,
        leaseUntil,
        response: null,
        createdAt: toDate(at),
      }
      if (await insert(fresh)) return { outcome: 'begun', resourceId, fencingToken: 1 }

      const found = await operations.findOne({ _id: id }, NEWEST)
      if (found === null) return { outcome: 'in_progress' }
      const held = { _id: id, fencingToken: found.fencingToken, createdAt: found.createdAt }
      const fencingToken = found.fencingToken + 1
      if (toMs(found.createdAt) + IDEMPOTENCY_LIFE_MS <= at) {
        // Expired but not yet removed: the key starts over, with a token that fences former holders.
        const { _id: _same, ...restart } = { ...fresh, fencingToken }
        const restarted = await operations.updateOne(held, { $set: restart })
        return restarted.modifiedCount === 1
          ? { outcome: 'begun', resourceId, fencingToken }
          : { outcome: 'in_progress' }
      }
      if (found.fingerprint !== fingerprint) return { outcome: 'mismatch' }
      if (found.response !== null) return { outcome: 'done', response: found.response }
      if (toMs(found.leaseUntil) > at) return { outcome: 'in_progress' }
      const resumed = await operations.updateOne({ ...held, response: null }, { $set: { leaseUntil, fencingToken } })
      return resumed.modifiedCount === 1
        ? { outcome: 'resumed', resourceId: found.resourceId, fencingToken }
        : { outcome: 'in_progress' }
    },
    /** Moves the end of the lease if the token is still current and no response is stored. */
    renew: async (id: string, fencingToken: number, leaseUntil: Ms): Promise<void> => {
      await operations.updateOne(
        { _id: id, fencingToken, response: null },
        { $max: { leaseUntil: toDate(leaseUntil) } },
      )
    },
    /** Stores the response if the token is still current. */
    finish: async (id: string, fencingToken: number, response: { status: number; body: string }): Promise<boolean> => {
      const held = { _id: id, fencingToken, response: null }
      return (await operations.updateOne(held, { $set: { response } })).matchedCount === 1
    },
    /** Removes an operation whose response must not be replayed. */
    release: async (id: string, fencingToken: number): Promise<void> => {
      await operations.deleteOne({ _id: id, fencingToken, response: null })
    },
    /** Ends the lease of an operation whose outcome is unclear: a retry resumes it at once under the same resource id. */
    giveUp: async (id: string, fencingToken: number): Promise<void> => {
      await operations.updateOne({ _id: id, fencingToken, response: null }, { $set: { leaseUntil: toDate(0) } })
    },
    find: async (id: string): Promise<IdempotencyRecord | null> =>
      IDEMPOTENCY_KEYS.toRecord(await operations.findOne({ _id: id })),
    /** Several records in one read; unknown ids are left out. For the create path, which serves many requests at once. */
    findMany: async (ids: readonly string[]): Promise<readonly IdempotencyRecord[]> =>
      (await operations.find({ _id: { $in: [...ids] } }).toArray()).map(IDEMPOTENCY_KEYS.toRecord),
  }
}
