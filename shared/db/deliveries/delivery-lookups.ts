import type { Database } from '#shared/db/connection/connect.ts'
import { toDate, toMs } from '#shared/db/connection/dates.ts'
import { EVENTS } from '#shared/db/events/event-model.ts'
import { MODES } from '#shared/domain/enumerations.ts'
import type { Ms } from '#shared/domain/invoice/model.ts'
import type { DeliveryFilter, EventPlace } from '#shared/ports/delivery-lookups.ts'
import type { EventRecord } from '#shared/ports/events.ts'
import { type Delivery, type DeliveryDocument, WEBHOOK_DELIVERIES } from './delivery-model.ts'
import { deliveryFromDocument } from './delivery-repository.ts'
import { WITHOUT_ATTEMPTS } from './delivery-scopes.ts'
import { OF_ANY_TYPE, SCAN_MAX, WAITING } from './delivery-search.ts'

/** Events and deliveries by workspace, endpoint and time on MongoDB. */
export function createDeliveryLookups(db: Database) {
  const deliveries = db.collection(WEBHOOK_DELIVERIES)
  const events = db.collection(EVENTS)
  return {
    /** Newest first; a single status is searched among the newest 5,000 of each endpoint where no index serves it. */
    list: async ({ endpointIds, status, limit }: DeliveryFilter): Promise<readonly Delivery[]> => {
      const newest = async (endpointId: string) =>
        await deliveries
          .aggregate<DeliveryDocument>(
            [
              { $match: rowsOf(endpointId, status).filter },
              { $sort: { createdAt: -1, _id: -1 } },
              // Of all rows of an endpoint, few may have the status: the newest are looked through for it. Where the index
              // has that status alone, a second match would only keep the limit from ending the read.
              { $limit: SCAN_MAX },
              ...(status === null || status === 'failed' ? [] : [{ $match: { status } }]),
              { $limit: limit },
              { $project: WITHOUT_ATTEMPTS },
            ],
            { hint: rowsOf(endpointId, status).hint },
          )
          .toArray()
      const found = (await Promise.all(endpointIds.map(newest))).flat()
      return found
        .map(deliveryFromDocument)
        .sort((one, other) => other.createdAt - one.createdAt)
        .slice(0, limit)
    },
    /** Every delivery of these events to the endpoint. */
    ofEvents: async (endpointId: string, eventIds: readonly string[]): Promise<readonly Delivery[]> => {
      const found = await deliveries
        .find(
          { eventId: { $in: [...eventIds] }, endpointId },
          { hint: 'delivery_identity', projection: WITHOUT_ATTEMPTS },
        )
        .toArray()
      return found.map(deliveryFromDocument)
    },
    /** Events of a workspace after `after` and before `until`, oldest first, in the order of creation time and id. */
    eventsAfter: async (
      workspaceId: string,
      { createdAt, id }: EventPlace,
      until: Ms,
      limit: number,
    ): Promise<readonly Omit<EventRecord, 'body'>[]> => {
      const at = toDate(createdAt)
      const found = await events
        .find(
          {
            workspaceId,
            // The index has the mode before the time: both stretches are merged.
            mode: { $in: [...MODES] },
            createdAt: { $gte: at, $lt: toDate(until) },
            $or: [{ createdAt: { $gt: at } }, { createdAt: at, _id: { $gt: id } }],
          },
          { projection: { body: 0 }, hint: 'event_list' },
        )
        .sort({ createdAt: 1, _id: 1 })
        .limit(limit)
        .toArray()
      return found.map(({ _id, invoiceId, createdAt: madeAt, workspaceId: owner, mode, seq, type }) => {
        return { id: _id, workspaceId: owner, mode, invoiceId: invoiceId ?? null, seq, type, createdAt: toMs(madeAt) }
      })
    },
  }
}

/** The type of what {@link createDeliveryLookups} returns. */
export type DeliveryLookups = ReturnType<typeof createDeliveryLookups>

/** Rows of an endpoint, as far as an index has them by status. */
function rowsOf(endpointId: string, status: DeliveryFilter['status']) {
  if (status === 'failed') return { filter: { endpointId, status }, hint: 'delivery_failed_by_endpoint' }
  if (status === 'pending' || status === 'held') {
    return { filter: { endpointId, status: { $in: [...WAITING] } }, hint: 'delivery_waiting' }
  }
  return { filter: { endpointId, ...OF_ANY_TYPE }, hint: 'delivery_list_of_endpoint' }
}
