import { DATE, defineCollection, TEXT } from '#shared/db/connection/collection-model.ts'

const DAY_S = 86_400

/** An operation id that a client chose. */
export interface OperationDocument {
  _id: string
  /** SHA-256 of actor, procedure and content, lower-case hex. */
  fingerprint: string
  /** The request that bound it; null once another one shares it or it succeeded. */
  runner: string | null
  done: boolean
  at: Date
}

/**
 * The operations collection. An id removed after 90 days can be used again; audit rows do not depend on it, because
 * their ids also depend on the content.
 */
export const OPERATIONS = defineCollection<OperationDocument>(
  'operations',
  {
    _id: TEXT,
    fingerprint: TEXT,
    runner: { type: String, default: null },
    done: { type: Boolean, required: true },
    at: DATE,
  },
  [{ name: 'operation_life', key: { at: 1 }, expireAfterSeconds: 90 * DAY_S }],
)
