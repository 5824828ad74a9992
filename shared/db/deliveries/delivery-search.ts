import type mongoose from 'mongoose'
import { toDate } from '#shared/db/connection/dates.ts'
import { EVENT_TYPES } from '#shared/domain/enumerations.ts'
import type { DeliverySearch, ListPlace } from '#shared/ports/delivery-search.ts'
import type { ListOrder } from '#shared/ports/list-order.ts'
import type { DeliveryDocument } from './delivery-model.ts'

type Filter = mongoose.mongo.Filter<DeliveryDocument>

/** Deliveries read for one page by filters that no index serves. */
export const SCAN_MAX = 5_000

/** Deliveries read for a search that finds several invoices, so that an answer stays small. */
const OF_SEVERAL_MAX = 80

/** A query with the index that serves it in order. */
export interface SearchQuery {
  /** The part that the index serves. */
  readonly filter: Filter
  /** The remaining conditions; empty where the index serves everything. */
  readonly residual: Filter
  readonly hint: string
  /** Rows that are read at most where the index does not have them in order; absent where a page ends the read. */
  readonly most?: number
  readonly sort: Readonly<Record<string, 1 | -1>>
}

/** The index is sorted by type first: this merges all types, so that a page of all costs little more than one of a single type. */
export const OF_ANY_TYPE = { eventType: { $in: [...EVENT_TYPES] } }
const SORTS = { newest: { createdAt: -1, _id: -1 }, oldest: { createdAt: 1, _id: 1 } } as const

/**
 * The query behind a search. Every index but the one for a single event or invoice, whose deliveries are few, returns its rows
 * in the order of creation, either way. An index for each combination would cost every delivery a write: conditions beyond the keys of an index filter
 * the next `SCAN_MAX` of its rows. `endpointIds` are the endpoints of the workspace.
 */
export function searchQuery(search: DeliverySearch, endpointIds: readonly string[]): SearchQuery {
  const { workspaceId, mode, status, endpointId, eventType } = search
  const sort = SORTS[search.order ?? 'newest']
  const owner: Filter = { workspaceId, mode }
  const ofStatus: Filter = status === null ? {} : { status }
  const ofType: Filter = eventType === null ? {} : { eventType }
  const at = endpointId === null ? owner : { endpointId }
  const query = (hint: string, served: Filter, residual: Filter): SearchQuery => ({
    filter: { ...served, ...timeOf(search) },
    // The mode is not a key of an endpoint's indexes, because most endpoints receive one.
    residual: { ...residual, ...(endpointId !== null && owner) },
    hint,
    sort,
  })
  if (search.eventId !== null || search.invoiceIds !== null) {
    const ofEndpoint = endpointId === null ? {} : { endpointId }
    const all = { ...eventsOf(search), ...owner, ...ofStatus, ...ofType, ...ofEndpoint }
    const isOfSeveral = (search.invoiceIds?.length ?? 0) > 1
    const filter = { ...all, ...timeOf(search) }
    return { filter, residual: {}, hint: 'delivery_identity', sort, ...(isOfSeveral && { most: OF_SEVERAL_MAX }) }
  }
  if (status === 'failed') {
    const hint = endpointId === null ? 'delivery_failed' : 'delivery_failed_by_endpoint'
    return query(hint, { ...at, ...ofStatus }, ofType)
  }
  if (status === 'pending' || status === 'held') {
    // Waiting rows belong to an existing endpoint: the rows of a deleted one are purged.
    const served = { endpointId: endpointId ?? { $in: [...endpointIds] }, status: { $in: [...WAITING] } }
    return query('delivery_waiting', served, { ...owner, ...ofStatus, ...ofType })
  }
  const hint = endpointId === null ? 'delivery_list' : 'delivery_list_of_endpoint'
  return query(hint, { ...at, ...(eventType === null ? OF_ANY_TYPE : ofType) }, ofStatus)
}

/** Statuses in the index of waiting rows. */
export const WAITING = ['pending', 'held'] as const

function timeOf({ createdFrom, createdBefore, order, after }: DeliverySearch): Filter {
  const isOldestFirst = order === 'oldest'
  const until = createdBefore === null ? [] : [createdBefore - 1]
  const from = createdFrom === null ? [] : [createdFrom]
  const place = after === null ? [] : [after.createdAt]
  const [least, most] = isOldestFirst ? [[...from, ...place], until] : [from, [...until, ...place]]
  const bounds = {
    ...(least.length > 0 && { $gte: toDate(Math.max(...least)) }),
    ...(most.length > 0 && { $lte: toDate(Math.min(...most)) }),
  }
  return { ...(Object.keys(bounds).length > 0 && { createdAt: bounds }), ...(after !== null && behind(after, order)) }
}

/** Rows behind a place in an order: of another time, or of the same one with another id. */
export function behind({ createdAt, id }: ListPlace, order: ListOrder = 'newest') {
  const at = toDate(createdAt)
  const beyond = <T>(value: T) => (order === 'oldest' ? { $gt: value } : { $lt: value })
  return { $or: [{ createdAt: beyond(at) }, { createdAt: at, _id: beyond(id) }] }
}

/** Ids of an invoice's events begin with its own: the character after `_` in ASCII ends the range. */
function eventsOf({ eventId, invoiceIds }: DeliverySearch): Filter {
  if (eventId !== null) return { eventId }
  const stems = (invoiceIds ?? []).map((id) => `evt_${id.replaceAll('-', '')}`)
  return { $and: [{ $or: stems.map((stem) => ({ eventId: { $gte: `${stem}_`, $lt: `${stem}\`` } })) }] }
}
