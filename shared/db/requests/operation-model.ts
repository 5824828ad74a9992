import { z } from 'zod'
import { defineCollection, type StoredOf } from '#shared/db/connection/collection-model.ts'
import { TIME } from '#shared/db/connection/stored-fields.ts'

const DAY_S = 86_400

/**
 * The operations collection. An id removed after 90 days can be used again; audit rows do not depend on it, because
 * their ids also depend on the content.
 */
export const OPERATIONS = defineCollection(
  'operations',
  {
    _id: z.string(),
    /** SHA-256 of actor, procedure and content, lower-case hex. */
    fingerprint: z.string(),
    /** The request that bound it; null once another one shares it or it succeeded. */
    runner: z.string().nullable(),
    done: z.boolean(),
    at: TIME,
  },
  [{ name: 'operation_life', key: { at: 1 }, expireAfterSeconds: 90 * DAY_S }],
)

/** An operation id that a client chose. */
export type OperationDocument = StoredOf<typeof OPERATIONS>
