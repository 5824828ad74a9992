import type mongoose from 'mongoose'
import { toDate } from '#shared/db/connection/dates.ts'
import { EVENT_TYPES } from '#shared/domain/enumerations.ts'
import type { DeliverySearch } from '#shared/ports/delivery-search.ts'
import type { DeliveryDocument } from './delivery-model.ts'

type Filter = mongoose.mongo.Filter<DeliveryDocument>

/** A question to the store with the index that answers it in order. */
export interface SearchQuery {
  readonly filter: Filter
  readonly hint: string
  readonly sort: Readonly<Record<string, 1 | -1>>
}

/** Lists are kept type by type: this merges them, a page of all types costs little more than one of a type. */
export const OF_ANY_TYPE = { eventType: { $in: [...EVENT_TYPES] } }
const NEWEST_FIRST = { createdAt: -1, _id: -1 } as const

/**
 * The question behind a search. Every index but the one for a single event or invoice, whose deliveries are few, gives its rows
 * newest first: what is asked of it beside its keys only leaves rows out. `endpointIds` are the endpoints of the workspace.
 */
export function searchQuery(search: DeliverySearch, endpointIds: readonly string[]): SearchQuery {
  const { workspaceId, mode, status, endpointId, eventType } = search
  const filter: Filter = {
    workspaceId,
    mode,
    ...(eventType !== null && { eventType }),
    ...(status !== null && { status }),
    ...(endpointId !== null && { endpointId }),
    ...timeOf(search),
  }
  const query = (hint: string, more: Filter = {}): SearchQuery => ({
    filter: { ...filter, ...more },
    hint,
    sort: NEWEST_FIRST,
  })
  if (search.eventId !== null || search.invoiceId !== null) {
    return query('delivery_identity', { eventId: eventsOf(search) })
  }
  if (status === 'failed') return query(endpointId === null ? 'delivery_failed' : 'delivery_failed_by_endpoint')
  if (status === 'pending' || status === 'held') {
    // What waits belongs to an endpoint that exists: the rows of a deleted one are purged.
    return query('delivery_waiting', endpointId === null ? { endpointId: { $in: [...endpointIds] } } : {})
  }
  const ofType = eventType === null ? OF_ANY_TYPE : {}
  return query(endpointId === null ? 'delivery_list' : 'delivery_list_of_endpoint', ofType)
}

function timeOf({ createdFrom, createdBefore, after }: DeliverySearch): Filter {
  const until = createdBefore === null ? null : createdBefore - 1
  const last = after === null ? until : until === null ? after.createdAt : Math.min(until, after.createdAt)
  const bounds = {
    ...(createdFrom !== null && { $gte: toDate(createdFrom) }),
    ...(last !== null && { $lte: toDate(last) }),
  }
  const at = after === null ? null : toDate(after.createdAt)
  return {
    ...(Object.keys(bounds).length > 0 && { createdAt: bounds }),
    ...(after !== null &&
      at !== null && { $or: [{ createdAt: { $lt: at } }, { createdAt: at, _id: { $lt: after.id } }] }),
  }
}

/** Ids of an invoice's events begin with its own: the character behind `_` in ASCII ends the range. */
function eventsOf({ eventId, invoiceId }: DeliverySearch): string | { $gte: string; $lt: string } {
  if (eventId !== null) return eventId
  const stem = `evt_${(invoiceId ?? '').replaceAll('-', '')}`
  return { $gte: `${stem}_`, $lt: `${stem}\`` }
}
