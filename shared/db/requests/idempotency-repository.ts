import type { Database } from '#shared/db/connection/connect.ts'
import { toDate, toMs } from '#shared/db/connection/dates.ts'
import { duplicateKeyFields } from '#shared/db/connection/duplicate-key.ts'
import { readBack } from '#shared/db/connection/read-back.ts'
import type { IdempotencyRepository } from '#shared/ports/idempotency.ts'
import { IDEMPOTENCY_KEYS, IDEMPOTENCY_LIFE_MS, type IdempotencyDocument } from './idempotency-model.ts'

/** Idempotent operations on MongoDB. The unique `_id` is the guard; lease and token only decide who may finish. */
export function createIdempotencyRepository(db: Database): IdempotencyRepository {
  const operations = db.collection(IDEMPOTENCY_KEYS)

  const insert = async (record: IdempotencyDocument): Promise<boolean> => {
    try {
      await operations.insertOne(record)
      return true
    } catch (error) {
      if (duplicateKeyFields(error) === null) throw error
      return false
    }
  }

  return {
    begin: async (id, fingerprint, resourceId, at, leaseMs) => {
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

      const found = await readBack(() => operations.findOne({ _id: id }))
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
    renew: async (id, fencingToken, leaseUntil) => {
      await operations.updateOne(
        { _id: id, fencingToken, response: null },
        { $max: { leaseUntil: toDate(leaseUntil) } },
      )
    },
    finish: async (id, fencingToken, response) => {
      await operations.updateOne({ _id: id, fencingToken, response: null }, { $set: { response } })
    },
    release: async (id, fencingToken) => {
      await operations.deleteOne({ _id: id, fencingToken, response: null })
    },
    giveUp: async (id, fencingToken) => {
      await operations.updateOne({ _id: id, fencingToken, response: null }, { $set: { leaseUntil: toDate(0) } })
    },
    find: async (id) => IDEMPOTENCY_KEYS.toRecord(await operations.findOne({ _id: id })),
    findMany: async (ids) =>
      (await operations.find({ _id: { $in: [...ids] } }).toArray()).map(IDEMPOTENCY_KEYS.toRecord),
  }
}
