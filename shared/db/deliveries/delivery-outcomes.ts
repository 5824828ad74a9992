import type mongoose from 'mongoose'
import { toDate } from '#shared/db/connection/dates.ts'
import type { DeliveryOutcome } from '#shared/ports/deliveries.ts'
import type { AttemptDocument, DeliveryDocument } from './delivery-model.ts'

/**
 * The writes that record outcomes: one for all rows of a claim to which the same happened, because a write costs the store
 * far more than a row. Rows written together get one finish time, the latest of them. The pause before a retry begins at the
 * store's time of the write (`$$NOW`), so that no machine's clock makes a retry early.
 */
export function outcomeWrites(
  outcomes: readonly DeliveryOutcome[],
): mongoose.mongo.AnyBulkWriteOperation<DeliveryDocument>[] {
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
  const finishedAt = Math.max(...alike.map((outcome) => outcome.attempt.at + Math.ceil(outcome.attempt.durationMs)))
  const retryAfterMs = Math.max(...alike.map((outcome) => outcome.retryAfterMs ?? Number.NEGATIVE_INFINITY))
  const ending =
    result === 'retry'
      ? { dueAt: { $add: ['$$NOW', retryAfterMs] } }
      : { status: { $literal: result }, finishedAt: toDate(finishedAt) }
  const set = { ...seen, ...ending, attempt: { $add: ['$attempt', 1] } }
  const filter = { _id: { $in: alike.map((outcome) => outcome.deliveryId) }, status: 'pending' as const, leaseToken }
  return { updateMany: { filter, update: [{ $set: set }] } }
}

/** The row of one request. The attempt was made even when its lease was lost, so it is recorded either way. */
export function attemptToDocument(outcome: DeliveryOutcome): AttemptDocument {
  const { attempt, deliveryId, leaseToken } = outcome
  return { ...attempt, _id: `${deliveryId}:${leaseToken}`, deliveryId, at: toDate(attempt.at) }
}
