import { COUNT, DATE, defineCollection, optional, TEXT } from '#shared/db/connection/collection-model.ts'
import type { Recovery } from '#shared/ports/recoveries.ts'

/** A stored recovery. */
export type RecoveryDocument = Omit<
  Recovery,
  'id' | 'since' | 'until' | 'place' | 'askedAt' | 'finishedAt' | 'dueAt'
> & {
  _id: string
  since: Date
  until: Date
  place: { createdAt: Date; id: string }
  askedAt: Date
  finishedAt: Date | null
  dueAt: Date
}

const HALF_A_YEAR_S = 180 * 86_400

/** The delivery_recoveries collection. At most one is open for each endpoint. */
export const DELIVERY_RECOVERIES = defineCollection<RecoveryDocument>(
  'delivery_recoveries',
  {
    _id: TEXT,
    workspaceId: TEXT,
    endpointId: TEXT,
    since: DATE,
    until: DATE,
    scope: { type: String, enum: ['failed', 'all'], required: true },
    state: { type: String, enum: ['open', 'done', 'cancelled'], required: true },
    place: { type: Object, required: true },
    scanned: COUNT,
    made: COUNT,
    askedAt: DATE,
    finishedAt: optional(Date),
    dueAt: DATE,
    leaseToken: optional(String),
  },
  [
    { name: 'recovery_open', key: { endpointId: 1 }, unique: true, partialFilterExpression: { state: 'open' } },
    { name: 'recovery_due', key: { dueAt: 1 }, partialFilterExpression: { state: 'open' } },
    { name: 'recovery_endpoint', key: { endpointId: 1, askedAt: -1 } },
    { name: 'recovery_life', key: { finishedAt: 1 }, expireAfterSeconds: HALF_A_YEAR_S },
  ],
)
