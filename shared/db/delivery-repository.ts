import type mongoose from 'mongoose'
import type { Delivery, DeliveryAttempt, DeliveryOutcome, DeliveryRepository } from '#shared/usecases/ports/events.ts'
import type { Database } from './connect.ts'
import { toDate, toDateOrNull, toMs, toMsOrNull } from './dates.ts'
import { type AttemptDocument, type DeliveryDocument, WEBHOOK_ATTEMPTS, WEBHOOK_DELIVERIES } from './delivery-model.ts'
import { ignoringDuplicates } from './duplicate-key.ts'

type Deliveries = mongoose.mongo.Collection<DeliveryDocument>

/** Index that holds pending rows only. */
const DUE_INDEX = 'delivery_due'

/** True for rows whose time has come by the store's own clock, so that no machine's clock can send early. */
const IS_DUE = { $expr: { $lte: ['$dueAt', '$$NOW'] } }

/** Deliveries and their attempts on MongoDB. Claims and outcomes are fenced by lease token; times are the store's. */
export function createDeliveryRepository(db: Database): DeliveryRepository {
  const deliveries = db.collection(WEBHOOK_DELIVERIES)
  const attempts = db.collection(WEBHOOK_ATTEMPTS)
  return {
    insertMany: async (rows) => {
      if (rows.length === 0) return
      await ignoringDuplicates(() => deliveries.insertMany(rows.map(toDocument), { ordered: false }))
    },
    claim: (endpointId, token, limit, leaseMs) => claim(deliveries, endpointId, token, limit, leaseMs),
    finish: async (outcomes) => {
      if (outcomes.length === 0) return
      // The attempt was made even when the lease is lost by now, hence it is recorded either way.
      await Promise.all([
        deliveries.bulkWrite(outcomes.map(outcomeWrite), { ordered: false }),
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
      const result = await deliveries.deleteMany({ status: 'pending', endpointId, ...(mode !== null && { mode }) })
      return result.deletedCount
    },
    ...questions(deliveries),
    listAttempts: async (deliveryId) =>
      (await attempts.find({ deliveryId }).sort({ number: 1, at: 1 }).toArray()).map(attemptFromDocument),
  }
}

async function claim(
  deliveries: Deliveries,
  endpointId: string,
  token: string,
  limit: number,
  leaseMs: number,
): Promise<readonly Delivery[]> {
  const due = await deliveries
    .find({ status: 'pending', endpointId, ...IS_DUE }, { projection: { _id: 1 }, hint: DUE_INDEX })
    .sort({ dueAt: 1 })
    .limit(limit)
    .toArray()
  if (due.length === 0) return []
  const ids = due.map((row) => row._id)
  const taken = await deliveries.updateMany({ _id: { $in: ids }, status: 'pending', ...IS_DUE }, [
    {
      $set: {
        dueAt: { $add: ['$$NOW', leaseMs] },
        leaseToken: { $literal: token },
        claims: { $add: ['$claims', 1] },
      },
    },
  ])
  if (taken.modifiedCount === 0) return []
  const ours = await deliveries.find({ _id: { $in: ids }, leaseToken: token }).toArray()
  // The update moved the due times: their order before it is the order of the ids. Rows of one change share a creation time.
  const rank = new Map(ids.map((id, index) => [id, index]))
  return ours.map(fromDocument).sort((one, other) => (rank.get(one.id) ?? 0) - (rank.get(other.id) ?? 0))
}

function outcomeWrite(outcome: DeliveryOutcome): mongoose.mongo.AnyBulkWriteOperation<DeliveryDocument> {
  const { deliveryId, leaseToken, result, dueAt, attempt } = outcome
  const seen = { leaseToken: null, lastError: attempt.error, lastStatusCode: attempt.statusCode }
  const set =
    result === 'retry'
      ? { ...seen, dueAt: toDate(dueAt ?? attempt.at) }
      : { ...seen, status: result, finishedAt: toDate(attempt.at + Math.ceil(attempt.durationMs)) }
  return {
    updateOne: {
      filter: { _id: deliveryId, status: 'pending', leaseToken },
      update: { $set: set, $inc: { attempt: 1 } },
    },
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
      return stored === null ? null : fromDocument(stored)
    }) satisfies DeliveryRepository['findById'],
    listByEvent: (async (eventId) =>
      (await deliveries.find({ eventId }).sort({ endpointId: 1, generation: 1 }).toArray()).map(
        fromDocument,
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

function attemptToDocument(outcome: DeliveryOutcome): AttemptDocument {
  const { attempt, deliveryId, leaseToken } = outcome
  return { ...attempt, _id: `${deliveryId}:${leaseToken}`, deliveryId, at: toDate(attempt.at) }
}

function attemptFromDocument({ _id, deliveryId: _deliveryId, at, ...same }: AttemptDocument): DeliveryAttempt {
  return { ...same, at: toMs(at) }
}

function toDocument(delivery: Delivery): DeliveryDocument {
  const { id, dueAt, createdAt, finishedAt, ...same } = delivery
  return {
    _id: id,
    ...same,
    dueAt: toDate(dueAt),
    createdAt: toDate(createdAt),
    finishedAt: toDateOrNull(finishedAt),
  }
}

function fromDocument(stored: DeliveryDocument): Delivery {
  const { _id, dueAt, createdAt, finishedAt, ...same } = stored
  return { id: _id, ...same, dueAt: toMs(dueAt), createdAt: toMs(createdAt), finishedAt: toMsOrNull(finishedAt) }
}
