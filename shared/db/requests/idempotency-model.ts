import { z } from 'zod'
import { defineCollection, type RecordOf, type StoredOf } from '#shared/db/connection/collection-model.ts'
import { TIME } from '#shared/db/connection/stored-fields.ts'

/** How long an idempotency key is remembered (specification: 24 h). */
export const IDEMPOTENCY_LIFE_MS = 86_400_000

/** The idempotency_keys collection: every POST but invoice creation, whose guard lives in the invoice. */
export const IDEMPOTENCY_KEYS = defineCollection(
  'idempotency_keys',
  {
    /** `<ws>:<mode>:<METHOD>:<path>:<key>`. */
    _id: z.string(),
    fingerprint: z.string(),
    resourceId: z.string(),
    fencingToken: z.number(),
    leaseUntil: TIME,
    /** Null while running. The body is encrypted when it contains a secret. */
    response: z.object({ status: z.number(), body: z.string() }).nullable(),
    createdAt: TIME,
  },
  [{ name: 'idempotency_life', key: { createdAt: 1 }, expireAfterSeconds: IDEMPOTENCY_LIFE_MS / 1_000 }],
)

/** A stored idempotent operation. */
export type IdempotencyDocument = StoredOf<typeof IDEMPOTENCY_KEYS>

/** Stored outcome of an idempotent operation other than invoice creation. */
export type IdempotencyRecord = RecordOf<typeof IDEMPOTENCY_KEYS>
