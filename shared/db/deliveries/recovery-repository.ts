import { audited } from '#shared/db/audit/audited.ts'
import type { Database } from '#shared/db/connection/connect.ts'
import { toDate } from '#shared/db/connection/dates.ts'
import { duplicateKeyFields } from '#shared/db/connection/duplicate-key.ts'
import { isAny } from '#shared/db/connection/is-any.ts'
import { readBack } from '#shared/db/connection/read-back.ts'
import type { Ms } from '#shared/domain/invoice/model.ts'
import type { RecoveryRepository } from '#shared/ports/recoveries.ts'
import { DELIVERY_RECOVERIES } from './recovery-model.ts'

/** True for recoveries that are due by the store's own clock. */
const IS_DUE = { $expr: { $lte: ['$dueAt', '$$NOW'] } }
const OPEN = { state: 'open' as const }
/** Open recoveries that are due at some time; exported for the test that explains the query. */
export const dueBy = (until: Ms) => ({ ...OPEN, dueAt: { $lte: toDate(until) } })

/** Recoveries on MongoDB, fenced by lease token. */
export function createRecoveryRepository(db: Database): RecoveryRepository {
  const recoveries = db.collection(DELIVERY_RECOVERIES)
  return {
    ask: async (recovery, audit) => {
      try {
        await audited(db, audit, async (session) => {
          await recoveries.insertOne(DELIVERY_RECOVERIES.toDocument(recovery), { session })
          return true
        })
        return recovery
      } catch (error) {
        if (duplicateKeyFields(error) === null) throw error
        const { id, endpointId } = recovery
        const mine = await recoveries.findOne({ _id: id })
        const standing = mine ?? (await readBack(() => recoveries.findOne({ endpointId, ...OPEN })))
        if (standing === null)
          throw new Error(`a recovery of ${endpointId} ended just now: request it again`, { cause: error })
        return DELIVERY_RECOVERIES.toRecord(standing)
      }
    },
    findById: async (id) => DELIVERY_RECOVERIES.toRecord(await recoveries.findOne({ _id: id })),
    listByEndpoint: async (endpointId, limit) =>
      (await recoveries.find({ endpointId }).sort({ askedAt: -1 }).limit(limit).toArray()).map(
        DELIVERY_RECOVERIES.toRecord,
      ),
    due: async (until, limit) => {
      const due = dueBy(until)
      if (!(await isAny(db, { of: DELIVERY_RECOVERIES, filter: due, hint: 'recovery_due' }))) return []
      const found = await recoveries
        .find(due, { projection: { _id: 1 }, hint: 'recovery_due' })
        .sort({ dueAt: 1 })
        .limit(limit)
        .toArray()
      return found.map((row) => row._id)
    },
    claim: async (id, token, leaseMs) => {
      const lease = { dueAt: { $add: ['$$NOW', leaseMs] }, leaseToken: { $literal: token } }
      const claimed = await recoveries.findOneAndUpdate({ _id: id, ...OPEN, ...IS_DUE }, [{ $set: lease }], {
        returnDocument: 'after',
      })
      return DELIVERY_RECOVERIES.toRecord(claimed)
    },
    progress: async (id, token, { place, scanned, made }, leaseMs) => {
      const stored = { createdAt: toDate(place.createdAt), id: { $literal: place.id } }
      const result = await recoveries.updateOne({ _id: id, ...OPEN, leaseToken: token }, [
        { $set: { place: stored, scanned, made, dueAt: { $add: ['$$NOW', leaseMs] } } },
      ])
      return result.matchedCount === 1
    },
    pause: async (id, token, pauseMs) => {
      await recoveries.updateOne({ _id: id, ...OPEN, leaseToken: token }, [
        { $set: { dueAt: { $add: ['$$NOW', pauseMs] }, leaseToken: null } },
      ])
    },
    finish: (id, token, state, at, audit) =>
      audited(db, audit, async (session) => {
        const change = { $set: { state, finishedAt: toDate(at), leaseToken: null } }
        const held = { _id: id, ...OPEN, leaseToken: token }
        return (await recoveries.updateOne(held, change, { session })).matchedCount === 1
      }),
  }
}
