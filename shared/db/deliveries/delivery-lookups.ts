import type { Database } from '#shared/db/connection/connect.ts'
import { toDate, toMs } from '#shared/db/connection/dates.ts'
import { EVENTS } from '#shared/db/events/event-model.ts'
import { MODES } from '#shared/domain/enumerations.ts'
import type { DeliveryFilter, DeliveryLookups } from '#shared/ports/delivery-lookups.ts'
import { type DeliveryDocument, WEBHOOK_DELIVERIES } from './delivery-model.ts'
import { deliveryFromDocument } from './delivery-repository.ts'
import { WITHOUT_ATTEMPTS } from './delivery-scopes.ts'
import { OF_ANY_TYPE, SCAN_MAX, WAITING } from './delivery-search.ts'

/** Events and deliveries by workspace, endpoint and time on MongoDB. */
export function createDeliveryLookups(db: Database): DeliveryLookups {
  const deliveries = db.collection(WEBHOOK_DELIVERIES)
  const events = db.collection(EVENTS)
  return {
    list: async ({ endpointIds, status, limit }) => {
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
    ofEvents: async (endpointId, eventIds) => {
      const found = await deliveries
        .find(
          { eventId: { $in: [...eventIds] }, endpointId },
          { hint: 'delivery_identity', projection: WITHOUT_ATTEMPTS },
        )
        .toArray()
      return found.map(deliveryFromDocument)
    },
    eventsAfter: async (workspaceId, { createdAt, id }, until, limit) => {
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

/** Rows of an endpoint, as far as an index has them by status. */
function rowsOf(endpointId: string, status: DeliveryFilter['status']) {
  if (status === 'failed') return { filter: { endpointId, status }, hint: 'delivery_failed_by_endpoint' }
  if (status === 'pending' || status === 'held') {
    return { filter: { endpointId, status: { $in: [...WAITING] } }, hint: 'delivery_waiting' }
  }
  return { filter: { endpointId, ...OF_ANY_TYPE }, hint: 'delivery_list_of_endpoint' }
}
