import { z } from 'zod'
import { defineCollection, type RecordOf } from '#shared/db/connection/collection-model.ts'
import { TIME } from '#shared/db/connection/stored-fields.ts'

const HALF_A_YEAR_S = 180 * 86_400

/** The delivery_recoveries collection. At most one is open for each endpoint. */
export const DELIVERY_RECOVERIES = defineCollection(
  'delivery_recoveries',
  {
    _id: z.string(),
    workspaceId: z.string(),
    endpointId: z.string(),
    since: TIME,
    /** Exclusive. */
    until: TIME,
    /** `failed`: events that the endpoint never accepted. `all`: all events it is subscribed to. */
    scope: z.enum(['failed', 'all']),
    state: z.enum(['open', 'done', 'cancelled']),
    /** The last event that was processed. */
    place: z.object({ createdAt: TIME, id: z.string() }),
    scanned: z.number(),
    made: z.number(),
    requestedAt: TIME,
    finishedAt: TIME.nullable(),
    /** When a worker should continue, and the end of the lease while one does. */
    dueAt: TIME,
    leaseToken: z.string().nullable(),
  },
  [
    { name: 'recovery_open', key: { endpointId: 1 }, unique: true, partialFilterExpression: { state: 'open' } },
    { name: 'recovery_due', key: { dueAt: 1 }, partialFilterExpression: { state: 'open' } },
    { name: 'recovery_endpoint', key: { endpointId: 1, requestedAt: -1 } },
    { name: 'recovery_life', key: { finishedAt: 1 }, expireAfterSeconds: HALF_A_YEAR_S },
  ],
)

/** A request to resend missed events to an endpoint; any process continues it from its position. */
export type Recovery = RecordOf<typeof DELIVERY_RECOVERIES>
