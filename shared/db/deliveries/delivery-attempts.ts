import type mongoose from 'mongoose'
import type { Database } from '#shared/db/connection/connect.ts'
import { toDate } from '#shared/db/connection/dates.ts'
import { ignoringDuplicates } from '#shared/db/connection/duplicate-key.ts'
import type { DeliveryAttempt, DeliveryOutcome } from '#shared/ports/deliveries.ts'
import {
  type AttemptDocument,
  attemptFromDocument,
  attemptToDocument,
  type DeliveryDocument,
  type EmbeddedAttempt,
  WEBHOOK_ATTEMPTS,
  WEBHOOK_DELIVERIES,
} from './delivery-model.ts'

/** Attempts in a delivery. It has nine at most, so this only bounds a row that is damaged. */
const KEPT = 10
/** Attempts outside of their delivery that are shown; they are rare. */
const LATE_MAX = 100

/**
 * Writes and reads attempts on MongoDB. An outcome and its attempt are one compare-and-set on the delivery. The attempt of a lease
 * that was lost happened too: it is stored in `webhook_attempts`.
 */
export function createAttempts(db: Database) {
  const deliveries = db.collection(WEBHOOK_DELIVERIES)
  const late = db.collection(WEBHOOK_ATTEMPTS)
  return {
    finish: async (outcomes: readonly DeliveryOutcome[]): Promise<void> => {
      if (outcomes.length === 0) return
      const { matchedCount } = await deliveries.bulkWrite(outcomeWrites(outcomes), { ordered: false })
      if (matchedCount === outcomes.length) return
      const missing = await unrecorded(deliveries, outcomes)
      if (missing.length === 0) return
      await ignoringDuplicates(() => late.insertMany(missing.map(lateAttempt), { ordered: false }))
    },
    list: async (deliveryId: string): Promise<readonly DeliveryAttempt[]> => {
      const [row, others] = await Promise.all([
        deliveries.findOne({ _id: deliveryId }, { projection: { attempts: 1 } }),
        late.find({ deliveryId }).sort({ number: -1 }).limit(LATE_MAX).toArray(),
      ])
      const own = row?.attempts ?? []
      const recorded = new Set(own.map(({ token }) => lateId(deliveryId, token)))
      return [...own, ...others.filter(({ _id }) => !recorded.has(_id))]
        .map(attemptFromDocument)
        .sort((one, other) => one.number - other.number || one.at - other.at)
    },
  }
}

/**
 * The outcomes whose attempt is in no delivery, because the lease was lost. Where only the answer of an earlier try was lost, the
 * attempt is found by its token.
 */
async function unrecorded(
  deliveries: mongoose.mongo.Collection<DeliveryDocument>,
  outcomes: readonly DeliveryOutcome[],
): Promise<readonly DeliveryOutcome[]> {
  const found = await deliveries
    .find({ _id: { $in: outcomes.map(({ deliveryId }) => deliveryId) } }, { projection: { attempts: 1 } })
    .toArray()
  const recorded = new Set(found.flatMap(({ _id, attempts = [] }) => attempts.map(({ token }) => lateId(_id, token))))
  return outcomes.filter(({ deliveryId, leaseToken }) => !recorded.has(lateId(deliveryId, leaseToken)))
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
  const set = { ...seen, ...ending, attempt: { $add: ['$attempt', 1] }, attempts: longer(alike) }
  const ids = alike.map((outcome) => outcome.deliveryId)
  const filter = { _id: { $in: ids }, status: 'pending' as const, leaseToken }
  return { updateMany: { filter, update: [{ $set: set }, { $set: { attemptsFrom: { $min: '$attempts.at' } } }] } }
}

/** The attempts of each row with its newest: rows of a group find theirs by the position of their id. */
function longer(alike: readonly DeliveryOutcome[]) {
  const made = { $literal: alike.map(embedded) }
  const position = { $indexOfArray: [{ $literal: alike.map(({ deliveryId }) => deliveryId) }, '$_id'] }
  return { $slice: [{ $concatArrays: [{ $ifNull: ['$attempts', []] }, [{ $arrayElemAt: [made, position] }]] }, -KEPT] }
}

function embedded({ attempt, leaseToken }: DeliveryOutcome): EmbeddedAttempt {
  return { ...attemptToDocument(attempt), token: leaseToken }
}

const lateId = (deliveryId: string, leaseToken: string): string => `${deliveryId}:${leaseToken}`

function lateAttempt({ attempt, deliveryId, leaseToken }: DeliveryOutcome): AttemptDocument {
  return { ...attemptToDocument(attempt), _id: lateId(deliveryId, leaseToken), deliveryId }
}
