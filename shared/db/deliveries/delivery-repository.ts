import type mongoose from 'mongoose'
import type { Database } from '#shared/db/connection/connect.ts'
import { toDate, toDateOrNull, toMs, toMsOrNull } from '#shared/db/connection/dates.ts'
import { ignoringDuplicates, refusedDuplicates } from '#shared/db/connection/duplicate-key.ts'
import type { Delivery, DeliveryAttempt, DeliveryOutcome, DeliveryRepository } from '#shared/ports/deliveries.ts'
import { claimRows, findDueRows, heldBy } from './delivery-claims.ts'
import { type AttemptDocument, type DeliveryDocument, WEBHOOK_ATTEMPTS, WEBHOOK_DELIVERIES } from './delivery-model.ts'
import { DUE_INDEX, dueEndpoints, finishedAt, HELD_INDEX, heldAt, pendingAt } from './delivery-scopes.ts'

/** Deliveries and their attempts on MongoDB. Claims and outcomes are fenced by lease token; times are the store's. */
export function createDeliveryRepository(db: Database): DeliveryRepository {
  const deliveries = db.collection(WEBHOOK_DELIVERIES)
  const attempts = db.collection(WEBHOOK_ATTEMPTS)
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
      const found = await deliveries.aggregate<{ _id: string; dueAt: Date }>(dueEndpoints(until, limit)).toArray()
      return found.map((row) => ({ endpointId: row._id, dueAt: toMs(row.dueAt) }))
    },
    nextDue: async (endpointId) => {
      const next = await deliveries.findOne(pendingAt(endpointId), { sort: { dueAt: 1 }, projection: { dueAt: 1 } })
      return next === null ? null : toMs(next.dueAt)
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
      const stored = await deliveries.findOne({ _id: id })
      return stored === null ? null : deliveryFromDocument(stored)
    },
    listByEvent: async (eventId) =>
      (await deliveries.find({ eventId }).sort({ endpointId: 1, generation: 1 }).toArray()).map(deliveryFromDocument),
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
    listAttempts: async (deliveryId) =>
      (await attempts.find({ deliveryId }).sort({ number: 1, at: 1 }).toArray()).map(attemptFromDocument),
  }
}

/**
 * The writes that record outcomes: one for all rows of a claim with the same outcome, because a write costs the store
 * far more than a row. Rows written together get one finish time, the latest of them. The pause before a retry begins at the
 * store's time of the write (`$$NOW`), so that no machine's clock makes a retry early.
 */
function outcomeWrites(outcomes: readonly DeliveryOutcome[]): mongoose.mongo.AnyBulkWriteOperation<DeliveryDocument>[] {
  const alike = new Map<string, DeliveryOutcome[]>()
  for (const outcome of outcomes) {
    const { leaseToken, result, attempt } = outcome
    const key = `${leaseToken} ${result} ${attempt.number} ${attempt.statusCode} ${attempt.error}`
    const known = alike.get(key)
    if (known === undefined) alike.set(key, [outcome])
    else known.push(outcome)
  }
  return [...alike.values()].map(writeOf)
}

function writeOf(alike: readonly DeliveryOutcome[]): mongoose.mongo.AnyBulkWriteOperation<DeliveryDocument> {
  const [first] = alike
  if (first === undefined) throw new Error('a group holds at least one outcome')
  const { leaseToken, result, attempt } = first
  const seen = { leaseToken: null, lastError: { $literal: attempt.error }, lastStatusCode: attempt.statusCode }
  const endedAt = Math.max(...alike.map((outcome) => outcome.attempt.at + Math.ceil(outcome.attempt.durationMs)))
  const retryAfterMs = Math.max(...alike.map((outcome) => outcome.retryAfterMs ?? Number.NEGATIVE_INFINITY))
  const ending =
    result === 'retry'
      ? { dueAt: { $add: ['$$NOW', retryAfterMs] } }
      : { status: { $literal: result }, finishedAt: toDate(endedAt) }
  const set = { ...seen, ...ending, attempt: { $add: ['$attempt', 1] } }
  const filter = { _id: { $in: alike.map((outcome) => outcome.deliveryId) }, status: 'pending' as const, leaseToken }
  return { updateMany: { filter, update: [{ $set: set }] } }
}

/** The row of one request. The attempt happened even if its lease was lost, so it is recorded either way. */
function attemptToDocument(outcome: DeliveryOutcome): AttemptDocument {
  const { attempt, deliveryId, leaseToken } = outcome
  return { ...attempt, _id: `${deliveryId}:${leaseToken}`, deliveryId, at: toDate(attempt.at) }
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
