import { toDate } from '#shared/db/connection/dates.ts'
import type { Ms } from '#shared/domain/invoice/model.ts'

// Delivery filters, with the index that serves each.

/** Index that holds pending rows only, by endpoint and due time. */
export const DUE_INDEX = 'delivery_due'
/** Index that contains only paused rows. */
export const HELD_INDEX = 'delivery_held'

/** Deliveries that are to be sent, or are being sent. */
export const PENDING = { status: 'pending' as const }

/** Those of an endpoint. */
export const pendingAt = (endpointId: string) => ({ status: 'pending' as const, endpointId })

/** Deliveries that wait until their endpoint is enabled again. */
export const heldAt = (endpointId: string) => ({ status: 'held' as const, endpointId })

/** Deliveries of an endpoint that succeeded or failed. */
export const finishedAt = (endpointId: string) => ({ endpointId, finishedAt: { $type: 'date' as const } })

const eachDueEndpoint = (until: Ms) => [
  { $match: { status: 'pending' } },
  { $sort: { status: 1, endpointId: 1, dueAt: 1 } },
  { $group: { _id: '$endpointId', dueAt: { $first: '$dueAt' } } },
  { $match: { dueAt: { $lte: toDate(until) } } },
]

/** The same counted by state, with the oldest due time of each: `free` are those that are in none of the lists. */
export const dueByState = (until: Ms, { slow, failing }: Readonly<Record<'slow' | 'failing', readonly string[]>>) => [
  ...eachDueEndpoint(until),
  {
    $group: {
      _id: {
        $cond: [{ $in: ['$_id', [...slow]] }, 'slow', { $cond: [{ $in: ['$_id', [...failing]] }, 'failing', 'free'] }],
      },
      endpoints: { $sum: 1 },
      oldestDueAt: { $min: '$dueAt' },
    },
  },
]

/** Endpoints with pending deliveries due before `until`, with their oldest due time, found by skipping from one to the next. */
export const dueEndpoints = (until: Ms, limit: number) => [
  ...eachDueEndpoint(until),
  { $sort: { dueAt: 1 } },
  { $limit: limit },
]

/** A delivery without what receivers answered, which may be large and is shown on one page only. */
export const WITHOUT_ATTEMPTS = { attempts: 0, attemptsFrom: 0 } as const
