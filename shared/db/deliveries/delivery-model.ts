import { COUNT, DATE, defineCollection, OWNED_FIELDS, optional, TEXT } from '#shared/db/connection/collection-model.ts'
import type { Delivery, DeliveryAttempt } from '#shared/ports/deliveries.ts'

/** A stored delivery: one event for one endpoint. */
export type DeliveryDocument = Omit<Delivery, 'id' | 'dueAt' | 'createdAt' | 'finishedAt'> & {
  _id: string
  /** Next send time, and the end of the lease while claimed. */
  dueAt: Date
  createdAt: Date
  finishedAt: Date | null
  /** The requests whose outcome counted, oldest first; absent before the first, and when all are older than 30 days. */
  attempts?: readonly EmbeddedAttempt[]
  /** Time of the oldest of `attempts`, by which they expire; absent with them. */
  attemptsFrom?: Date
}

/** An attempt in its delivery. */
export interface EmbeddedAttempt extends Omit<DeliveryAttempt, 'at'> {
  readonly at: Date
  /** The lease token of the claim that made it: two claims never share one. */
  readonly token: string
}

const HALF_A_YEAR_S = 180 * 86_400

/**
 * The webhook_deliveries collection. The status leads the index of due work although it is constant there: only then can
 * "which endpoints have due rows" skip from endpoint to endpoint instead of reading every pending row.
 */
export const WEBHOOK_DELIVERIES = defineCollection<DeliveryDocument>(
  'webhook_deliveries',
  {
    _id: TEXT,
    eventId: TEXT,
    eventType: TEXT,
    endpointId: TEXT,
    ...OWNED_FIELDS,
    generation: COUNT,
    status: { type: String, enum: ['pending', 'held', 'succeeded', 'failed'], required: true },
    attempt: COUNT,
    dueAt: DATE,
    leaseToken: optional(String),
    claims: COUNT,
    createdAt: DATE,
    finishedAt: optional(Date),
    lastError: optional(String),
    lastStatusCode: optional(Number),
    recoveryId: optional(String),
    resendOf: optional(String),
    attempts: optional([Object]),
    attemptsFrom: optional(Date),
  },
  [
    { name: 'delivery_identity', key: { eventId: 1, endpointId: 1, generation: 1 }, unique: true },
    {
      name: 'delivery_due',
      key: { status: 1, endpointId: 1, dueAt: 1 },
      partialFilterExpression: { status: 'pending' },
    },
    { name: 'delivery_held', key: { endpointId: 1 }, partialFilterExpression: { status: 'held' } },
    // Lists, newest first. Each entry is written once with the row and never again, because no key changes when an outcome is
    // recorded; the status, which changes, has small indexes: of failed and of waiting rows.
    { name: 'delivery_list', key: { workspaceId: 1, mode: 1, eventType: 1, createdAt: -1, _id: -1 } },
    { name: 'delivery_list_of_endpoint', key: { endpointId: 1, eventType: 1, createdAt: -1, _id: -1 } },
    {
      name: 'delivery_failed',
      key: { workspaceId: 1, mode: 1, createdAt: -1, _id: -1 },
      partialFilterExpression: { status: 'failed' },
    },
    {
      name: 'delivery_failed_by_endpoint',
      key: { endpointId: 1, createdAt: -1, _id: -1 },
      partialFilterExpression: { status: 'failed' },
    },
    {
      name: 'delivery_waiting',
      key: { endpointId: 1, createdAt: -1, _id: -1 },
      partialFilterExpression: { status: { $in: ['pending', 'held'] } },
    },
    {
      name: 'delivery_finished',
      key: { endpointId: 1, finishedAt: -1 },
      partialFilterExpression: { finishedAt: { $type: 'date' } },
    },
    { name: 'delivery_life', key: { finishedAt: 1 }, expireAfterSeconds: HALF_A_YEAR_S },
    {
      name: 'delivery_attempts',
      key: { attemptsFrom: 1 },
      partialFilterExpression: { attemptsFrom: { $exists: true } },
    },
  ],
)

/** How long the answers of receivers are kept, wherever they are stored. */
export const ATTEMPT_DAYS = 30

/** An attempt in a document of its own. */
export type AttemptDocument = Omit<DeliveryAttempt, 'at'> & { _id: string; deliveryId: string; at: Date }

/**
 * The webhook_attempts collection: requests whose lease was lost before their outcome was written. All others are in their delivery. Kept
 * 30 days.
 */
export const WEBHOOK_ATTEMPTS = defineCollection<AttemptDocument>(
  'webhook_attempts',
  {
    _id: TEXT,
    deliveryId: TEXT,
    number: COUNT,
    at: DATE,
    durationMs: COUNT,
    statusCode: optional(Number),
    error: optional(String),
    ip: optional(String),
    phases: { type: Object, required: true },
    responseBody: String,
  },
  [
    { name: 'attempt_delivery', key: { deliveryId: 1, number: 1 } },
    { name: 'attempt_life', key: { at: 1 }, expireAfterSeconds: ATTEMPT_DAYS * 86_400 },
  ],
)
