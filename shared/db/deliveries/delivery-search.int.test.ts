import type mongoose from 'mongoose'
import { beforeAll, expect, it } from 'vitest'
import { createEndpointRepository } from '#shared/db/deliveries/endpoint-repository.ts'
import { EVENTS } from '#shared/db/events/event-model.ts'
import { createEventRepository } from '#shared/db/events/event-repository.ts'
import { createInvoiceRepository } from '#shared/db/invoices/invoice-repository.ts'
import { EVENT_TYPES } from '#shared/domain/enumerations.ts'
import { eventId } from '#shared/domain/ids.ts'
import type { Delivery } from '#shared/ports/deliveries.ts'
import type { DeliverySearch } from '#shared/ports/delivery-search.ts'
import type { EventRecord } from '#shared/ports/events.ts'
import { LIST_ORDERS } from '#shared/ports/list-order.ts'
import { sampleDelivery, sampleInvoice } from '#test/support/db-samples.ts'
import { sampleOf } from '#test/support/depth.ts'
import { useStores } from '#test/support/stores.ts'
import { createDeliveryLookups } from './delivery-lookups.ts'
import { WEBHOOK_DELIVERIES } from './delivery-model.ts'
import { createDeliveryReads, eventListQuery, waitingCountsPipeline } from './delivery-reads.ts'
import { createDeliveryRepository } from './delivery-repository.ts'
import { searchQuery } from './delivery-search.ts'

const stores = useStores()
const ENDPOINTS = ['e-0', 'e-1', 'e-2']
const STATUSES = ['succeeded', 'succeeded', 'failed', 'pending', 'held'] as const
const ROWS = 1_200
/** Four rows of every moment, so that a page may end among equals. */
const SAME_MOMENT = 4
const invoiceIdOf = (row: number) => `00000000-0000-7000-8000-${String(Math.floor(row / 3)).padStart(12, '0')}`

const rows: readonly Delivery[] = Array.from({ length: ROWS }, (_, row) => {
  const status = STATUSES[row % STATUSES.length] ?? 'succeeded'
  const ended = status === 'succeeded' || status === 'failed'
  return sampleDelivery(`whd_${String(row).padStart(26, '0')}`, {
    ...{ workspaceId: row % 6 === 0 ? 'ws-2' : 'ws-1', mode: row % 7 === 0 ? 'live' : 'test', status },
    ...{
      eventId: eventId(invoiceIdOf(row), row % 3),
      eventType: EVENT_TYPES[row % EVENT_TYPES.length] ?? 'invoice.paid',
    },
    ...{ endpointId: ENDPOINTS[row % ENDPOINTS.length] ?? '', createdAt: 1_000 + Math.floor(row / SAME_MOMENT) },
    ...{ finishedAt: ended ? 9_000 + row : null, generation: row },
  })
})

const NOTHING: DeliverySearch = {
  ...{ workspaceId: 'ws-1', mode: 'test', status: null, endpointId: null, eventType: null },
  ...{ eventId: null, invoiceIds: null, createdFrom: null, createdBefore: null, after: null, limit: 20 },
}
const TYPE_AT_E1 =
  rows.find((row) => row.endpointId === 'e-1' && row.workspaceId === 'ws-1' && row.mode === 'test')?.eventType ?? null
const SEARCHES: Readonly<Record<string, readonly [search: Partial<DeliverySearch>, index: string]>> = {
  everything: [{}, 'delivery_list'],
  'a period': [{ createdFrom: 1_050, createdBefore: 1_200 }, 'delivery_list'],
  'a type': [{ eventType: 'invoice.confirming' }, 'delivery_list'],
  'what arrived': [{ status: 'succeeded' }, 'delivery_list'],
  'an endpoint': [{ endpointId: 'e-1' }, 'delivery_list_of_endpoint'],
  'a type at an endpoint': [{ endpointId: 'e-1', eventType: TYPE_AT_E1 }, 'delivery_list_of_endpoint'],
  'what failed': [{ status: 'failed' }, 'delivery_failed'],
  'what failed at an endpoint': [{ status: 'failed', endpointId: 'e-1' }, 'delivery_failed_by_endpoint'],
  'what waits': [{ status: 'pending' }, 'delivery_waiting'],
  'what is held at an endpoint': [{ status: 'held', endpointId: 'e-2' }, 'delivery_waiting'],
  'one event': [{ eventId: eventId(invoiceIdOf(100), 1) }, 'delivery_identity'],
  'one invoice': [{ invoiceIds: [invoiceIdOf(101)] }, 'delivery_identity'],
  'several invoices': [{ invoiceIds: [invoiceIdOf(101), invoiceIdOf(103)] }, 'delivery_identity'],
}

beforeAll(async () => {
  await createDeliveryRepository(stores.db).insertMany(rows)
  const endpoint = { url: 'https://shop.test', events: ['*' as const], mode: 'both' as const, description: null }
  for (const id of ENDPOINTS) {
    await createEndpointRepository(stores.db).insert({
      ...{
        id,
        workspaceId: 'ws-1',
        ...endpoint,
        status: 'enabled',
        sealedSecrets: [],
        formerSecrets: [],
        inFlightMax: null,
        createdAt: 0,
        updatedAt: 0,
      },
      opId: null,
    })
  }
  const body = new Uint8Array([1])
  const events = Array.from({ length: 300 }, (_, row): EventRecord => {
    const mode = row % 2 === 0 ? 'live' : 'test'
    const shared = { workspaceId: 'ws-1', mode, body, type: 'invoice.paid', seq: row % 3 } as const
    return { ...shared, id: eventId(invoiceIdOf(row), row % 3), invoiceId: invoiceIdOf(row), createdAt: 1_000 + row }
  })
  await createEventRepository(stores.db).insertMany(events)
})

function stagesOf(plan: unknown): { stage: string; indexName?: string }[] {
  if (Array.isArray(plan)) return plan.flatMap(stagesOf)
  if (typeof plan !== 'object' || plan === null) return []
  const own = 'stage' in plan && typeof plan.stage === 'string' ? [plan as { stage: string; indexName?: string }] : []
  const inner = Object.entries(plan).filter(([name]) => name !== 'rejectedPlans')
  return [...own, ...inner.flatMap(([, value]) => stagesOf(value))]
}

const read = (explained: mongoose.mongo.Document) => ({
  stages: stagesOf(explained['queryPlanner']).map(({ stage }) => stage),
  indexes: [...new Set(stagesOf(explained['queryPlanner']).flatMap(({ indexName }) => indexName ?? []))],
  keys: Number(explained['executionStats']?.['totalKeysExamined']),
})

/** The truth, from the rows themselves. */
function wanted(search: DeliverySearch): readonly string[] {
  const { workspaceId, mode, status, endpointId, eventType, createdFrom, createdBefore } = search
  const found = rows
    .filter((row) => row.workspaceId === workspaceId && row.mode === mode)
    .filter((row) => status === null || row.status === status)
    .filter((row) => endpointId === null || row.endpointId === endpointId)
    .filter((row) => eventType === null || row.eventType === eventType)
    .filter((row) => search.eventId === null || row.eventId === search.eventId)
    .filter((row) => search.invoiceIds?.some((id) => row.eventId.includes(id.replaceAll('-', ''))) ?? true)
    .filter((row) => createdFrom === null || row.createdAt >= createdFrom)
    .filter((row) => createdBefore === null || row.createdAt < createdBefore)
    .sort((left, right) => right.createdAt - left.createdAt || (left.id < right.id ? 1 : -1))
    .map(({ id }) => id)
  return search.order === 'oldest' ? found.reverse() : found
}

async function allPages(search: DeliverySearch): Promise<readonly string[]> {
  const reads = createDeliveryReads(stores.db)
  const found: string[] = []
  for (let { after } = search; ; ) {
    const { deliveries, next } = await reads.search({ ...search, after })
    found.push(...deliveries.map(({ id }) => id))
    if (next === null) return found
    after = next
  }
}

// Guarantee: in both orders paging shows every row of a search once, and none of another workspace or mode.
it.each(sampleOf(Object.entries(SEARCHES), 2))('finds %s, page by page', async (_name, [change]) => {
  for (const order of LIST_ORDERS) {
    const search = { ...NOTHING, ...change, order, limit: 31 }
    expect(wanted(search).length).toBeGreaterThan(0)
    expect(await allPages(search)).toEqual(wanted(search))
  }
})

// Guarantee: no search reads more of its index than the rows it shows and those its other filters leave out.
it.each(Object.entries(SEARCHES))('reads %s from an index in its order', async (_name, [change, index]) => {
  const places = [null, { createdAt: 1_150, id: 'whd_5' }]
  for (const { order, after } of LIST_ORDERS.flatMap((one) => places.map((place) => ({ order: one, after: place })))) {
    const { filter, residual, hint, sort } = searchQuery({ ...NOTHING, ...change, order, after }, ENDPOINTS)
    const cursor = stores.db
      .collection(WEBHOOK_DELIVERIES)
      .find({ $and: [filter, residual] }, { hint })
      .sort(sort)
      .limit(20)
    const { stages, indexes, keys } = read(await cursor.explain('executionStats'))
    expect(indexes).toEqual([index])
    expect(stages).not.toContain('COLLSCAN')
    if (index !== 'delivery_identity') expect(stages).not.toContain('SORT')
    expect(keys).toBeLessThan(200)
  }
})

it('tells how an endpoint does', async () => {
  const health = await createDeliveryReads(stores.db).health('e-1')
  const own = rows.filter(({ endpointId }) => endpointId === 'e-1')
  const ended = own.filter(({ finishedAt }) => finishedAt !== null)
  expect(health.tried).toHaveLength(100)
  expect(health.tried[0]).toMatchObject({ id: ended.at(-1)?.id, finishedAt: ended.at(-1)?.finishedAt })
  expect(health.lastSuccessAt).toBe(ended.findLast(({ status }) => status === 'succeeded')?.finishedAt)
  expect(health.retrying).toBe(0)
  expect(health.waiting).toBe(own.filter(({ status }) => status === 'pending').length)
  expect(health.held).toBe(own.filter(({ status }) => status === 'held').length)
})

it('finds what is retried behind a crowd that was never tried, along the index of due work', async () => {
  const endpointId = 'e-crowd'
  const crowd = Array.from({ length: 700 }, (_, row) =>
    sampleDelivery(`whd_crowd_${row}`, { endpointId, createdAt: 5_000 + row, dueAt: 5_000 + row }),
  )
  const retried = sampleDelivery('whd_retried', { endpointId, createdAt: 4_000, dueAt: 9_000_000, attempt: 2 })
  await createDeliveryRepository(stores.db).insertMany([...crowd, retried])
  const health = await createDeliveryReads(stores.db).health(endpointId)
  expect(health).toMatchObject({ waiting: 701, retrying: 1, lastSuccessAt: null, tried: [{ id: 'whd_retried' }] })
  const explained = read(
    await stores.db
      .collection(WEBHOOK_DELIVERIES)
      .aggregate([...waitingCountsPipeline(endpointId)], { hint: 'delivery_due' })
      .explain('executionStats'),
  )
  expect(explained.indexes).toEqual(['delivery_due'])
  expect(explained.stages).not.toContain('SORT')
})

it('lists events of one mode newest or oldest first, and both for a recovery oldest first, from one index', async () => {
  const reads = createDeliveryReads(stores.db)
  const scope = { workspaceId: 'ws-1', mode: 'test', invoiceIds: null } as const
  const first = await reads.listEvents({ ...scope, after: null, limit: 50 })
  const last = first.at(-1)
  const second = await reads.listEvents({ ...scope, after: last ?? null, limit: 200 })
  expect([...first, ...second].map(({ createdAt }) => createdAt)).toEqual(
    Array.from({ length: 150 }, (_, row) => 1_299 - 2 * row),
  )
  const early = await reads.listEvents({ ...scope, order: 'oldest', after: null, limit: 50 })
  const rest = await reads.listEvents({ ...scope, order: 'oldest', after: early.at(-1) ?? null, limit: 200 })
  expect([...early, ...rest].map(({ id }) => id)).toEqual([...first, ...second].map(({ id }) => id).reverse())
  for (const order of LIST_ORDERS) {
    const { filter, sort } = eventListQuery({ ...scope, order, after: last ?? null })
    const explained = read(
      await stores.db.collection(EVENTS).find(filter).sort(sort).limit(20).explain('executionStats'),
    )
    expect(explained.indexes).toEqual(['event_list'])
    expect(explained.stages).not.toContain('SORT')
  }
  const from = { createdAt: 1_000, id: '' }
  const both = await createDeliveryLookups(stores.db).eventsAfter('ws-1', from, 2_000, 500)
  expect(both.map(({ createdAt }) => createdAt)).toEqual(Array.from({ length: 300 }, (_, row) => 1_000 + row))
})

it('reads the numbers of invoices by id', async () => {
  const invoice = sampleInvoice(stores.runtime.random, { workspaceId: 'ws-1', number: 4_183 })
  await createInvoiceRepository(stores.db).insert(invoice)
  const reads = createDeliveryReads(stores.db)
  expect(await reads.invoiceNumbers([invoice.terms.id, 'none'])).toEqual(new Map([[invoice.terms.id, 4_183]]))
})
