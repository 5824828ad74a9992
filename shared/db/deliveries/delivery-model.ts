import { z } from 'zod'
import { defineCollection, type RecordOf, type StoredOf } from '#shared/db/connection/collection-model.ts'
import { mappingOf } from '#shared/db/connection/record-mapping.ts'
import { OWNED_FIELDS, objectAs, TIME, textAs } from '#shared/db/connection/stored-fields.ts'
import type { EventType } from '#shared/domain/enumerations.ts'
import type { HttpPhases } from '#shared/ports/webhook-http.ts'

const ATTEMPT_FIELDS = {
  number: z.number(),
  at: TIME,
  durationMs: z.number(),
  statusCode: z.number().nullable(),
  /** Error code of the failure, null on success: `timeout`, `dns`, `refused`, `status_500`, `blocked_address` … */
  error: z.string().nullable(),
  ip: z.string().nullable(),
  /** Duration of each phase, in whole milliseconds. */
  phases: objectAs<HttpPhases>(),
  /** First 4 KB of the response. */
  responseBody: z.string(),
} as const

/** An attempt in its delivery. */
const EMBEDDED_ATTEMPT = z.object({
  ...ATTEMPT_FIELDS,
  /** The lease token of the claim that made it: two claims never share one. */
  token: z.string(),
})

const ATTEMPT = mappingOf(z.object(ATTEMPT_FIELDS))

/** A stored attempt, wherever it is. */
export const attemptFromDocument = ATTEMPT.toRecord
/** The stored form of an attempt. */
export const attemptToDocument = ATTEMPT.toDocument

/** One HTTP request of a delivery. */
export type DeliveryAttempt = ReturnType<typeof attemptFromDocument>
/** An attempt in its delivery. */
export type EmbeddedAttempt = z.input<typeof EMBEDDED_ATTEMPT>

const HALF_A_YEAR_S = 180 * 86_400

/**
 * The webhook_deliveries collection. The status leads the index of due work although it is constant there: only then can
 * "which endpoints have due rows" skip from endpoint to endpoint instead of reading every pending row.
 */
export const WEBHOOK_DELIVERIES = defineCollection(
  'webhook_deliveries',
  {
    /** `whd_…`, made of event, endpoint and generation (`deliveryId`): it keeps each of them unique. */
    _id: z.string(),
    eventId: z.string(),
    eventType: textAs<EventType>(),
    endpointId: z.string(),
    ...OWNED_FIELDS,
    /** 0 for the first, +1 for each resend. */
    generation: z.number(),
    /** `held`: its endpoint is disabled; it resumes when the endpoint is enabled again. */
    status: z.enum(['pending', 'held', 'succeeded', 'failed']),
    /** Recorded outcomes so far. Claims never consume attempts. */
    attempt: z.number(),
    /** Next send time, and the end of the lease while claimed. */
    dueAt: TIME,
    leaseToken: z.string().nullable(),
    claims: z.number(),
    createdAt: TIME,
    finishedAt: TIME.nullable(),
    lastError: z.string().nullable(),
    lastStatusCode: z.number().nullable(),
    /** The recovery that created it; absent otherwise. */
    recoveryId: z.string().exactOptional(),
    /** The operator's operation that created it; absent otherwise. */
    resendOf: z.string().exactOptional(),
    /** The requests whose outcome counted, oldest first; absent before the first, and when all are older than 30 days. */
    attempts: z.array(EMBEDDED_ATTEMPT).exactOptional(),
    /** Time of the oldest of `attempts`, by which they expire; absent with them. */
    attemptsFrom: TIME.exactOptional(),
  },
  [
    // Unique by `_id`, which is made of the same three values: an index of its own would forbid every other shard key.
    { name: 'delivery_identity', key: { eventId: 1, endpointId: 1, generation: 1 } },
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
  // No validator: deliveries are written on the hot path.
  { hidden: ['attempts', 'attemptsFrom'], validator: null },
)

/** A stored delivery: one event for one endpoint. */
export type DeliveryDocument = StoredOf<typeof WEBHOOK_DELIVERIES>

/** A delivery without its attempts. */
export type Delivery = RecordOf<typeof WEBHOOK_DELIVERIES>

/** How long the answers of receivers are kept, wherever they are stored. */
export const ATTEMPT_DAYS = 30

/**
 * The webhook_attempts collection: requests whose lease was lost before their outcome was written. All others are in their delivery. Kept
 * 30 days.
 */
export const WEBHOOK_ATTEMPTS = defineCollection(
  'webhook_attempts',
  {
    _id: z.string(),
    deliveryId: z.string(),
    ...ATTEMPT_FIELDS,
  },
  [
    { name: 'attempt_delivery', key: { deliveryId: 1, number: 1 } },
    { name: 'attempt_life', key: { at: 1 }, expireAfterSeconds: ATTEMPT_DAYS * 86_400 },
  ],
)

/** An attempt in its own document. */
export type AttemptDocument = StoredOf<typeof WEBHOOK_ATTEMPTS>
