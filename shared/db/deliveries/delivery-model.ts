import { COUNT, DATE, defineCollection, OWNED_FIELDS, optional, TEXT } from '#shared/db/connection/collection-model.ts'
import type { Delivery, DeliveryAttempt } from '#shared/ports/deliveries.ts'

/** A stored delivery: one event for one endpoint. */
export type DeliveryDocument = Omit<Delivery, 'id' | 'dueAt' | 'createdAt' | 'finishedAt'> & {
  _id: string
  /** Next send time, and the end of the lease while claimed. */
  dueAt: Date
  createdAt: Date
  finishedAt: Date | null
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
    // Not named like the former index without the type: the previous version requests that one by name (docs/upgrading.md).
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
  ],
)

/** A stored attempt: one HTTP request of a delivery. */
export type AttemptDocument = Omit<DeliveryAttempt, 'at'> & { _id: string; deliveryId: string; at: Date }

const THIRTY_DAYS_S = 30 * 86_400

/** The webhook_attempts collection; kept 30 days. */
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
    phases: optional(Object),
    responseBody: String,
  },
  [
    { name: 'attempt_delivery', key: { deliveryId: 1, number: 1 } },
    { name: 'attempt_life', key: { at: 1 }, expireAfterSeconds: THIRTY_DAYS_S },
  ],
)
