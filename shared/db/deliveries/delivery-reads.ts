import type mongoose from 'mongoose'
import type { Database } from '#shared/db/connection/connect.ts'
import { toDate, toMs, toMsOrNull } from '#shared/db/connection/dates.ts'
import { WEBHOOK_ENDPOINTS } from '#shared/db/endpoints/endpoint-model.ts'
import { EVENTS, type EventDocument } from '#shared/db/events/event-model.ts'
import { INVOICES } from '#shared/db/invoices/invoice-model.ts'
import { EVENT_TYPES, type Mode } from '#shared/domain/enumerations.ts'
import type { Ms } from '#shared/domain/invoice/model.ts'
import type { EventPlace } from '#shared/ports/delivery-lookups.ts'
import {
  COUNT_MAX,
  type DeliveryPage,
  type DeliverySearch,
  type EndpointHealth,
  type ListPlace,
} from '#shared/ports/delivery-search.ts'
import type { EventRecord } from '#shared/ports/events.ts'
import type { ListOrder } from '#shared/ports/list-order.ts'
import { type Delivery, type DeliveryDocument, WEBHOOK_DELIVERIES } from './delivery-model.ts'
import { deliveryFromDocument } from './delivery-repository.ts'
import { DUE_INDEX, finishedAt, HELD_INDEX, heldAt, pendingAt, WITHOUT_ATTEMPTS } from './delivery-scopes.ts'
import { behind, SCAN_MAX, type SearchQuery, searchQuery } from './delivery-search.ts'

/** Tried deliveries on which an endpoint's health is based. */
const EVALUATED = 100
/** Waiting deliveries that are searched for tried ones. */
const LOOKED_AT = 500
/** Rows of the index that are read first for each row of a page: mostly the page is among them, and the others need not be read. */
const NEAR = 10
const NEAR_OF_ENDPOINT = 2
const WAITING_INDEX = 'delivery_waiting'

/** Searches for events and deliveries on MongoDB. */
export function createDeliveryReads(db: Database) {
  const deliveries = db.collection(WEBHOOK_DELIVERIES)
  const endpoints = db.collection(WEBHOOK_ENDPOINTS)
  const events = db.collection(EVENTS)
  const invoices = db.collection(INVOICES)
  return {
    /**
     * At most `limit` deliveries in the order of the search, and where to continue, null at the end. Combinations of filters that no index serves
     * read 5,000 deliveries at a time, so a page may hold fewer, even none, before the end.
     */
    search: async (search: DeliverySearch): Promise<DeliveryPage> => {
      const { workspaceId, status, endpointId } = search
      const waits = (status === 'pending' || status === 'held') && endpointId === null
      const owned = waits ? await endpoints.find({ workspaceId }, { projection: { _id: 1 } }).toArray() : []
      return await pageOf(
        deliveries,
        searchQuery(
          search,
          owned.map(({ _id }) => _id),
        ),
        search.limit,
      )
    },
    /** Deliveries to an endpoint created since then; counted up to 10,000. */
    countCreated: (endpointId: string, since: Ms): Promise<number> =>
      deliveries.countDocuments(
        { endpointId, eventType: { $in: [...EVENT_TYPES] }, createdAt: { $gte: toDate(since) } },
        { hint: 'delivery_list_of_endpoint', limit: COUNT_MAX },
      ),
    /** Every delivery of these events of a workspace, oldest first. */
    ofEvents: async (workspaceId: string, eventIds: readonly string[]): Promise<readonly Delivery[]> => {
      const wanted = { eventId: { $in: [...eventIds] }, workspaceId }
      const found = await deliveries
        .find(wanted, { hint: 'delivery_identity', projection: WITHOUT_ATTEMPTS })
        .sort({ createdAt: 1 })
        .toArray()
      return found.map(deliveryFromDocument)
    },
    health: (endpointId: string): Promise<EndpointHealth> => healthOf(deliveries, endpointId),
    /** Events of a workspace and mode, those of some invoices when they are named; newest first unless `order` says otherwise. */
    listEvents: async ({
      limit,
      ...query
    }: {
      readonly workspaceId: string
      readonly mode: Mode
      readonly invoiceIds: readonly string[] | null
      readonly order?: ListOrder
      readonly after: EventPlace | null
      readonly limit: number
    }): Promise<readonly Omit<EventRecord, 'body'>[]> => {
      const { filter, sort } = eventListQuery(query)
      const found = await events
        .find(filter, { projection: { body: 0 } })
        .sort(sort)
        .limit(limit)
        .toArray()
      return found.map(({ _id, invoiceId, createdAt, workspaceId, mode, seq, type }) => {
        return { id: _id, workspaceId, mode, invoiceId: invoiceId ?? null, seq, type, createdAt: toMs(createdAt) }
      })
    },
    /** Numbers by id, of the invoices that exist. */
    invoiceNumbers: async (ids: readonly string[]): Promise<ReadonlyMap<string, number>> => {
      const found = await invoices.find({ _id: { $in: [...ids] } }, { projection: { number: 1 } }).toArray()
      return new Map(found.map(({ _id, number }) => [_id, number]))
    },
  }
}

/** The type of what {@link createDeliveryReads} returns. */
export type DeliveryReads = ReturnType<typeof createDeliveryReads>

async function pageOf(
  deliveries: mongoose.mongo.Collection<DeliveryDocument>,
  { filter, residual, hint, most, sort }: SearchQuery,
  limit: number,
): Promise<DeliveryPage> {
  const isServed = Object.keys(residual).length === 0
  const few = [{ $match: filter }, { $limit: most ?? SCAN_MAX }, { $sort: sort }, { $limit: limit + 1 }]
  const found = isServed
    ? most !== undefined
      ? await deliveries.aggregate<DeliveryDocument>([...few, { $project: WITHOUT_ATTEMPTS }], { hint }).toArray()
      : await deliveries
          .find(filter, { hint, projection: WITHOUT_ATTEMPTS })
          .sort(sort)
          .limit(limit + 1)
          .toArray()
    : await filtered(deliveries, { filter, residual, hint, sort }, limit)
  const page = found.slice(0, limit).map(deliveryFromDocument)
  const last = page.at(-1)
  if (found.length > limit && last !== undefined) return { deliveries: page, next: placeOf(last) }
  if (isServed) return { deliveries: page, next: null }
  const [end] = await deliveries
    .find(filter, { hint, projection: { createdAt: 1 } })
    .sort(sort)
    .skip(SCAN_MAX - 1)
    .limit(1)
    .toArray()
  return { deliveries: page, next: end === undefined ? null : { createdAt: toMs(end.createdAt), id: end._id } }
}

/** Up to one more than `limit` of the rows that meet all conditions, among the first `SCAN_MAX` of the index. */
async function filtered(
  deliveries: mongoose.mongo.Collection<DeliveryDocument>,
  { filter, residual, hint, sort }: SearchQuery,
  limit: number,
): Promise<readonly DeliveryDocument[]> {
  const among = async (most: number): Promise<readonly DeliveryDocument[]> => {
    const [served, wanted] = [[{ $match: filter }, { $sort: sort }, { $limit: most }], { $match: residual }]
    const page = [...served, wanted, { $limit: limit + 1 }, { $project: WITHOUT_ATTEMPTS }]
    return await deliveries.aggregate<DeliveryDocument>(page, { hint }).toArray()
  }
  // Nearly all rows of an endpoint are of one mode.
  const isOfEndpoint = Object.keys(residual).every((name) => name === 'workspaceId' || name === 'mode')
  const near = await among(Math.min(SCAN_MAX, (isOfEndpoint ? NEAR_OF_ENDPOINT : NEAR) * (limit + 1)))
  return near.length > limit ? near : await among(SCAN_MAX)
}

const placeOf = ({ createdAt, id }: ListPlace): ListPlace => ({ createdAt, id })

/** The query behind a list of events; exported for the test that explains it. */
export function eventListQuery(query: Omit<Parameters<DeliveryReads['listEvents']>[0], 'limit'>): {
  readonly filter: mongoose.mongo.Filter<EventDocument>
  readonly sort: Readonly<Record<string, 1 | -1>>
} {
  const { workspaceId, mode, invoiceIds, order = 'newest', after } = query
  const owned = { workspaceId, mode }
  const direction = order === 'oldest' ? 1 : -1
  if (invoiceIds !== null) {
    const [invoiceId = '', ...others] = invoiceIds
    if (others.length === 0) return { filter: { ...owned, invoiceId }, sort: { seq: direction } }
    return { filter: { ...owned, invoiceId: { $in: [...invoiceIds] } }, sort: { createdAt: direction, _id: direction } }
  }
  const sort = { createdAt: direction, _id: direction } as const
  if (after === null) return { filter: owned, sort }
  const bound = { [order === 'oldest' ? '$gte' : '$lte']: toDate(after.createdAt) }
  return { filter: { ...owned, createdAt: bound, ...behind(after, order) }, sort }
}

async function healthOf(
  deliveries: mongoose.mongo.Collection<DeliveryDocument>,
  endpointId: string,
): Promise<EndpointHealth> {
  const [finished, retrying, counts, held, oldest] = await Promise.all([
    deliveries
      .find(finishedAt(endpointId), { projection: TRIED_FIELDS })
      .sort({ finishedAt: -1 })
      .limit(EVALUATED)
      .toArray(),
    retryingOf(deliveries, endpointId),
    deliveries
      .aggregate<{ _id: boolean; count: number }>([...waitingCountsPipeline(endpointId)], { hint: DUE_INDEX })
      .toArray(),
    deliveries.countDocuments(heldAt(endpointId), { hint: HELD_INDEX, limit: COUNT_MAX }),
    deliveries.findOne(pendingAt(endpointId), { hint: DUE_INDEX, sort: { dueAt: 1 }, projection: { dueAt: 1 } }),
  ])
  const lastSuccess = finished.find(({ status }) => status === 'succeeded')
  const tried = [...finished, ...retrying].sort((left, right) => toMs(right.createdAt) - toMs(left.createdAt))
  return {
    tried: tried.slice(0, EVALUATED).map(({ _id, createdAt, finishedAt: endedAt, ...same }) => {
      return { id: _id, ...same, createdAt: toMs(createdAt), finishedAt: toMsOrNull(endedAt) }
    }),
    lastSuccessAt: toMsOrNull(lastSuccess?.finishedAt ?? null),
    waiting: counts.reduce((sum, { count }) => sum + count, 0),
    retrying: counts.find(({ _id }) => _id)?.count ?? 0,
    held,
    oldestDueAt: oldest === null ? null : toMs(oldest.dueAt),
  }
}

const TRIED_FIELDS = {
  status: 1,
  attempt: 1,
  createdAt: 1,
  finishedAt: 1,
  lastError: 1,
  lastStatusCode: 1,
  eventType: 1,
} as const

/**
 * Deliveries that were tried and have not ended. With many untried ones, neither order alone finds them: the newest are
 * searched among the newest waiting ones, the others among those whose next attempt is furthest away.
 */
async function retryingOf(deliveries: mongoose.mongo.Collection<DeliveryDocument>, endpointId: string) {
  const [newest, furthest] = await Promise.all([
    deliveries
      .find({ endpointId, status: { $in: ['pending', 'held'] } }, { projection: TRIED_FIELDS, hint: WAITING_INDEX })
      .sort({ createdAt: -1, _id: -1 })
      .limit(LOOKED_AT)
      .toArray(),
    deliveries
      .find(pendingAt(endpointId), { projection: TRIED_FIELDS, hint: DUE_INDEX })
      .sort({ dueAt: -1 })
      .limit(EVALUATED)
      .toArray(),
  ])
  const rows = new Map([...newest, ...furthest].map((row) => [row._id, row]))
  return [...rows.values()].filter(({ attempt }) => attempt > 0)
}

/** Pending deliveries of an endpoint by whether they were tried; exported for the test that explains it. */
export function waitingCountsPipeline(endpointId: string): readonly Readonly<Record<string, unknown>>[] {
  return [
    { $match: pendingAt(endpointId) },
    // Tried deliveries are due later than untried ones, so they are counted first where there are too many.
    { $sort: { dueAt: -1 } },
    { $limit: COUNT_MAX },
    { $group: { _id: { $gt: ['$attempt', 0] }, count: { $sum: 1 } } },
  ]
}
