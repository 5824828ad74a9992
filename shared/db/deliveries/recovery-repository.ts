import type { AuditRecord } from '#shared/db/audit/audit-model.ts'
import { audited, insertAudited } from '#shared/db/audit/audited.ts'
import type { Database } from '#shared/db/connection/connect.ts'
import { toDate } from '#shared/db/connection/dates.ts'
import { duplicateKeyFields } from '#shared/db/connection/duplicate-key.ts'
import { isAny } from '#shared/db/connection/is-any.ts'
import { NEWEST } from '#shared/db/connection/newest.ts'
import type { Ms } from '#shared/domain/invoice/model.ts'
import { DELIVERY_RECOVERIES, type Recovery } from './recovery-model.ts'

/** True for recoveries that are due by the store's own clock. */
const IS_DUE = { $expr: { $lte: ['$dueAt', '$$NOW'] } }
const OPEN = { state: 'open' as const }
/** Open recoveries that are due at some time; exported for the test that explains the query. */
export const dueBy = (until: Ms) => ({ ...OPEN, dueAt: { $lte: toDate(until) } })

/** Recoveries on MongoDB, fenced by lease token. */
export function createRecoveryRepository(db: Database) {
  const recoveries = db.collection(DELIVERY_RECOVERIES)
  return {
    /** Stores the request with its audit row; returns the open one if the endpoint has one. */
    request: async (recovery: Recovery, audit: AuditRecord): Promise<Recovery> => {
      try {
        const stored = DELIVERY_RECOVERIES.toDocument(recovery)
        await insertAudited(db, audit, (within) => recoveries.insertOne(stored, within))
        return recovery
      } catch (error) {
        if (duplicateKeyFields(error) === null) throw error
        const { id, endpointId } = recovery
        const mine = await recoveries.findOne({ _id: id }, NEWEST)
        const standing = mine ?? (await recoveries.findOne({ endpointId, ...OPEN }, NEWEST))
        if (standing === null)
          throw new Error(`a recovery of ${endpointId} ended just now: request it again`, { cause: error })
        return DELIVERY_RECOVERIES.toRecord(standing)
      }
    },
    findById: async (id: string): Promise<Recovery | null> =>
      DELIVERY_RECOVERIES.toRecord(await recoveries.findOne({ _id: id })),
    /** Newest first. */
    listByEndpoint: async (endpointId: string, limit: number): Promise<readonly Recovery[]> =>
      (await recoveries.find({ endpointId }).sort({ requestedAt: -1 }).limit(limit).toArray()).map(
        DELIVERY_RECOVERIES.toRecord,
      ),
    /** Open ones without a worker. */
    due: async (until: Ms, limit: number): Promise<readonly string[]> => {
      const due = dueBy(until)
      if (!(await isAny(db, { of: DELIVERY_RECOVERIES, filter: due, hint: 'recovery_due' }))) return []
      const found = await recoveries
        .find(due, { projection: { _id: 1 }, hint: 'recovery_due' })
        .sort({ dueAt: 1 })
        .limit(limit)
        .toArray()
      return found.map((row) => row._id)
    },
    /** Claims an open one that is due; null otherwise. */
    claim: async (id: string, token: string, leaseMs: Ms): Promise<Recovery | null> => {
      const lease = { dueAt: { $add: ['$$NOW', leaseMs] }, leaseToken: { $literal: token } }
      const claimed = await recoveries.findOneAndUpdate({ _id: id, ...OPEN, ...IS_DUE }, [{ $set: lease }], {
        returnDocument: 'after',
      })
      return DELIVERY_RECOVERIES.toRecord(claimed)
    },
    /** Advances it and extends the lease; false when the lease was lost. */
    progress: async (
      id: string,
      token: string,
      { place, scanned, made }: Pick<Recovery, 'place' | 'scanned' | 'made'>,
      leaseMs: Ms,
    ): Promise<boolean> => {
      const stored = { createdAt: toDate(place.createdAt), id: { $literal: place.id } }
      const result = await recoveries.updateOne({ _id: id, ...OPEN, leaseToken: token }, [
        { $set: { place: stored, scanned, made, dueAt: { $add: ['$$NOW', leaseMs] } } },
      ])
      return result.matchedCount === 1
    },
    /** Releases it for `pauseMs`. */
    pause: async (id: string, token: string, pauseMs: Ms): Promise<void> => {
      await recoveries.updateOne({ _id: id, ...OPEN, leaseToken: token }, [
        { $set: { dueAt: { $add: ['$$NOW', pauseMs] }, leaseToken: null } },
      ])
    },
    /** Ends it, with its audit row; false when the lease was lost. */
    finish: (id: string, token: string, state: 'done' | 'cancelled', at: Ms, audit: AuditRecord): Promise<boolean> =>
      audited(db, audit, async (session) => {
        const change = { $set: { state, finishedAt: toDate(at), leaseToken: null } }
        const held = { _id: id, ...OPEN, leaseToken: token }
        return (await recoveries.updateOne(held, change, { session })).matchedCount === 1
      }),
  }
}
