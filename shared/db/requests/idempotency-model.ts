import { COUNT, DATE, defineCollection, optional, TEXT } from '#shared/db/connection/collection-model.ts'
import type { IdempotencyRecord } from '#shared/ports/idempotency.ts'

/** A stored idempotent operation. */
export type IdempotencyDocument = Omit<IdempotencyRecord, 'id' | 'leaseUntil' | 'createdAt'> & {
  _id: string
  leaseUntil: Date
  createdAt: Date
}

/** How long an idempotency key is remembered (specification: 24 h). */
export const IDEMPOTENCY_LIFE_MS = 86_400_000

/** The idempotency_keys collection: every POST but invoice creation, whose guard lives in the invoice. */
export const IDEMPOTENCY_KEYS = defineCollection<IdempotencyDocument>(
  'idempotency_keys',
  {
    _id: TEXT,
    fingerprint: TEXT,
    resourceId: TEXT,
    fencingToken: COUNT,
    leaseUntil: DATE,
    response: optional(Object),
    createdAt: DATE,
  },
  [{ name: 'idempotency_life', key: { createdAt: 1 }, expireAfterSeconds: IDEMPOTENCY_LIFE_MS / 1_000 }],
)
