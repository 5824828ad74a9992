import type { Database } from '#shared/db/connection/connect.ts'
import { toMs, toMsOrNull } from '#shared/db/connection/dates.ts'
import { refusedDuplicates } from '#shared/db/connection/duplicate-key.ts'
import { isAny } from '#shared/db/connection/is-any.ts'
import type { DeliveryRepository } from '#shared/ports/deliveries.ts'
import { createAttempts } from './delivery-attempts.ts'
import { claimRows, findDueRows, heldBy } from './delivery-claims.ts'
import { WEBHOOK_DELIVERIES } from './delivery-model.ts'
import {
  DUE_INDEX,
  dueEndpoints,
  finishedAt,
  HELD_INDEX,
  heldAt,
  PENDING,
  pendingAt,
  WITHOUT_ATTEMPTS,
} from './delivery-scopes.ts'

/** Deliveries and their attempts on MongoDB. Claims and outcomes are fenced by lease token; times are the store's. */
export function createDeliveryRepository(db: Database): DeliveryRepository {
  const deliveries = db.collection(WEBHOOK_DELIVERIES)
  const attempts = createAttempts(db)
  return {
    insertMany: async (rows) => {
      if (rows.length === 0) return new Set()
      const documents = rows.map(deliveryToDocument)
      const insert = () => refusedDuplicates(() => deliveries.insertMany(documents, { ordered: false }))
      const idOf = (index: number) => rows[index]?.id ?? []
      const tokens = [...new Set(rows.flatMap(({ leaseToken }) => leaseToken ?? []))]
      const ours = new Set(rows.map(({ id }) => id))
      try {
        for (const id of (await insert()).flatMap(idOf)) ours.delete(id)
      } catch (error) {
        if (tokens.length === 0) throw error
        // Perhaps only the answer was lost. Under the same token it is asked again, and of the refused rows those with it are ours.
        const refused = (await insert()).flatMap(idOf)
        for (const id of refused) ours.delete(id)
        for (const token of tokens) for (const id of await heldBy(deliveries, refused, token)) ours.add(id)
      }
      return ours
    },

    dueEndpoints: async (until, limit) => {
      // The index cannot say when the first row of all endpoints is due.
      if (!(await isAny(db, { of: WEBHOOK_DELIVERIES, filter: PENDING, hint: DUE_INDEX }))) return []
      const found = await deliveries.aggregate<{ _id: string; dueAt: Date }>(dueEndpoints(until, limit)).toArray()
      return found.map((row) => ({ endpointId: row._id, dueAt: toMs(row.dueAt) }))
    },
    nextDue: async (endpointId) => {
      const next = await deliveries.findOne(pendingAt(endpointId), { sort: { dueAt: 1 }, projection: { dueAt: 1 } })
      return next === null ? null : toMs(next.dueAt)
    },
    findDue: async (wants, from) => (await findDueRows(deliveries, wants, from)).map(deliveryFromDocument),
    claim: (rows, token, leaseMs) => claimRows(deliveries, rows, token, leaseMs),
    finish: attempts.finish,
    release: async (ids, token) => {
      const claimed = { _id: { $in: [...ids] }, status: 'pending' as const, leaseToken: token }
      await deliveries.updateMany(claimed, [{ $set: { dueAt: '$$NOW', leaseToken: null } }])
    },

    hold: async (endpointId, leaseToken) => {
      const pending = pendingAt(endpointId)
      const hint = DUE_INDEX
      await deliveries.updateMany({ ...pending, leaseToken: null }, { $set: { status: 'held' } }, { hint })
      if (leaseToken === null) return
      // They were due when they were claimed; the end of the lease is not a due time.
      const aside = [{ $set: { status: 'held', leaseToken: null, dueAt: '$$NOW' } }]
      await deliveries.updateMany({ ...pending, leaseToken }, aside, { hint })
    },
    unhold: async (endpointId) => {
      const change = { $set: { status: 'pending' as const } }
      return (await deliveries.updateMany(heldAt(endpointId), change, { hint: HELD_INDEX })).modifiedCount
    },
    heldEndpoints: async () => {
      // Skips from one endpoint to the next by the index's first key: each may have a year's worth of rows.
      const found: string[] = []
      for (let after = ''; ; ) {
        const next = await deliveries.findOne(
          { status: 'held', endpointId: { $gt: after } },
          { hint: HELD_INDEX, sort: { endpointId: 1 }, projection: { endpointId: 1 } },
        )
        if (next === null) return found
        after = next.endpointId
        found.push(after)
      }
    },
    purge: async (endpointId, mode) => {
      const ofMode = mode === null ? {} : { mode }
      const pending = await deliveries.deleteMany({ ...pendingAt(endpointId), ...ofMode })
      const held = await deliveries.deleteMany({ ...heldAt(endpointId), ...ofMode }, { hint: HELD_INDEX })
      return pending.deletedCount + held.deletedCount
    },

    findById: async (id) => {
      const stored = await deliveries.findOne({ _id: id }, { projection: WITHOUT_ATTEMPTS })
      return stored === null ? null : deliveryFromDocument(stored)
    },
    listByEvent: async (eventId) =>
      (
        await deliveries
          .find({ eventId }, { projection: WITHOUT_ATTEMPTS })
          .sort({ endpointId: 1, generation: 1 })
          .toArray()
      ).map(deliveryFromDocument),
    highestGeneration: async (eventId, endpointId) => {
      const last = await deliveries.findOne(
        { eventId, endpointId },
        { sort: { generation: -1 }, projection: { generation: 1 } },
      )
      return last?.generation ?? -1
    },
    lastFinished: async (endpointId, limit) => {
      const finished = await deliveries
        .find(finishedAt(endpointId), { projection: { status: 1, finishedAt: 1 } })
        .sort({ finishedAt: -1 })
        .limit(limit)
        .toArray()
      return finished.map((row) => ({ id: row._id, status: row.status, finishedAt: toMsOrNull(row.finishedAt) }))
    },
    listAttempts: attempts.list,
  }
}

/** The stored form of a delivery, and a delivery as it was stored, without its attempts. */
export const { toDocument: deliveryToDocument, toRecord: deliveryFromDocument } = WEBHOOK_DELIVERIES
