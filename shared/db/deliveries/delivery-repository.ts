import type mongoose from 'mongoose'
import type { Database } from '#shared/db/connection/connect.ts'
import { toDate, toDateOrNull, toMs, toMsOrNull } from '#shared/db/connection/dates.ts'
import { ignoringDuplicates } from '#shared/db/connection/duplicate-key.ts'
import type { Delivery, DeliveryAttempt, DeliveryRepository } from '#shared/ports/deliveries.ts'
import { claimRows, DUE_INDEX, findDueRows } from './delivery-claims.ts'
import { createDeliveryHolds, HELD_INDEX } from './delivery-holds.ts'
import { type AttemptDocument, type DeliveryDocument, WEBHOOK_ATTEMPTS, WEBHOOK_DELIVERIES } from './delivery-model.ts'
import { attemptToDocument, outcomeWrites } from './delivery-outcomes.ts'

type Deliveries = mongoose.mongo.Collection<DeliveryDocument>

/** Deliveries and their attempts on MongoDB. Claims and outcomes are fenced by lease token; times are the store's. */
export function createDeliveryRepository(db: Database): DeliveryRepository {
  const deliveries = db.collection(WEBHOOK_DELIVERIES)
  const attempts = db.collection(WEBHOOK_ATTEMPTS)
  return {
    insertMany: async (rows) => {
      if (rows.length === 0) return
      await ignoringDuplicates(() => deliveries.insertMany(rows.map(deliveryToDocument), { ordered: false }))
    },
    findDue: async (wants, from) => (await findDueRows(deliveries, wants, from)).map(deliveryFromDocument),
    claim: (rows, token, leaseMs) => claimRows(deliveries, rows, token, leaseMs),
    finish: async (outcomes) => {
      if (outcomes.length === 0) return
      await Promise.all([
        deliveries.bulkWrite(outcomeWrites(outcomes), { ordered: false }),
        ignoringDuplicates(() => attempts.insertMany(outcomes.map(attemptToDocument), { ordered: false })),
      ])
    },
    release: async (token) => {
      // Rare (shutdown), and bounded by the pending rows; not worth an index that every claim would have to keep.
      await deliveries.updateMany(
        { status: 'pending', leaseToken: token },
        [{ $set: { dueAt: '$$NOW', leaseToken: null } }],
        { hint: DUE_INDEX },
      )
    },
    purge: async (endpointId, mode) => {
      const ofMode = { endpointId, ...(mode !== null && { mode }) }
      const results = [
        await deliveries.deleteMany({ status: 'pending', ...ofMode }),
        await deliveries.deleteMany({ status: 'held', ...ofMode }, { hint: HELD_INDEX }),
      ]
      return results.reduce((sum, { deletedCount }) => sum + deletedCount, 0)
    },
    ...createDeliveryHolds(deliveries),
    ...questions(deliveries),
    listAttempts: async (deliveryId) =>
      (await attempts.find({ deliveryId }).sort({ number: 1, at: 1 }).toArray()).map(attemptFromDocument),
  }
}

/** The pipeline behind `dueEndpoints`; exported for the test that explains it. */
export const dueEndpointsPipeline = (until: Date, limit: number) => [
  { $match: { status: 'pending' } },
  { $sort: { status: 1, endpointId: 1, dueAt: 1 } },
  { $group: { _id: '$endpointId', dueAt: { $first: '$dueAt' } } },
  { $match: { dueAt: { $lte: until } } },
  { $sort: { dueAt: 1 } },
  { $limit: limit },
]

function questions(deliveries: Deliveries) {
  return {
    dueEndpoints: (async (until, limit) => {
      const found = await deliveries
        .aggregate<{ _id: string; dueAt: Date }>(dueEndpointsPipeline(toDate(until), limit))
        .toArray()
      return found.map((row) => ({ endpointId: row._id, dueAt: toMs(row.dueAt) }))
    }) satisfies DeliveryRepository['dueEndpoints'],
    nextDue: (async (endpointId) => {
      const next = await deliveries.findOne(
        { status: 'pending', endpointId },
        { sort: { dueAt: 1 }, projection: { dueAt: 1 } },
      )
      return next === null ? null : toMs(next.dueAt)
    }) satisfies DeliveryRepository['nextDue'],
    findById: (async (id) => {
      const stored = await deliveries.findOne({ _id: id })
      return stored === null ? null : deliveryFromDocument(stored)
    }) satisfies DeliveryRepository['findById'],
    listByEvent: (async (eventId) =>
      (await deliveries.find({ eventId }).sort({ endpointId: 1, generation: 1 }).toArray()).map(
        deliveryFromDocument,
      )) satisfies DeliveryRepository['listByEvent'],
    highestGeneration: (async (eventId, endpointId) => {
      const last = await deliveries.findOne(
        { eventId, endpointId },
        { sort: { generation: -1 }, projection: { generation: 1 } },
      )
      return last?.generation ?? -1
    }) satisfies DeliveryRepository['highestGeneration'],
    lastFinished: (async (endpointId, limit) => {
      const finished = await deliveries
        .find({ endpointId, finishedAt: { $type: 'date' } }, { projection: { status: 1, finishedAt: 1 } })
        .sort({ finishedAt: -1 })
        .limit(limit)
        .toArray()
      return finished.map((row) => ({ id: row._id, status: row.status, finishedAt: toMsOrNull(row.finishedAt) }))
    }) satisfies DeliveryRepository['lastFinished'],
  }
}

function attemptFromDocument({ _id, deliveryId: _deliveryId, at, ...same }: AttemptDocument): DeliveryAttempt {
  return { ...same, at: toMs(at) }
}

/** The stored form of a delivery. */
export function deliveryToDocument(delivery: Delivery): DeliveryDocument {
  const { id, dueAt, createdAt, finishedAt, ...same } = delivery
  return {
    _id: id,
    ...same,
    dueAt: toDate(dueAt),
    createdAt: toDate(createdAt),
    finishedAt: toDateOrNull(finishedAt),
  }
}

/** A delivery as it was stored. */
export function deliveryFromDocument(stored: DeliveryDocument): Delivery {
  const { _id, dueAt, createdAt, finishedAt, ...same } = stored
  return { id: _id, ...same, dueAt: toMs(dueAt), createdAt: toMs(createdAt), finishedAt: toMsOrNull(finishedAt) }
}
