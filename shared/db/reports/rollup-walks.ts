import type { Database } from '#shared/db/connection/connect.ts'
import { toDate, toMs } from '#shared/db/connection/dates.ts'
import { isAny } from '#shared/db/connection/is-any.ts'
import { uuidLowerBound, uuidTime } from '#shared/db/connection/uuid-time.ts'
import { WEBHOOK_ATTEMPTS, WEBHOOK_DELIVERIES } from '#shared/db/deliveries/delivery-model.ts'
import { WEBHOOK_ENDPOINTS } from '#shared/db/endpoints/endpoint-model.ts'
import { EVENTS } from '#shared/db/events/event-model.ts'
import { INVOICES, type InvoiceDocument } from '#shared/db/invoices/invoice-model.ts'
import type { Ms } from '#shared/domain/invoice/model.ts'
import type { RollupSlot } from '#shared/ports/rollups.ts'
import { slotAt } from './rollup-rows.ts'

/** The walks by name. Each reads along one index on a time that every write of its kind stamps. */
export const WALKS = ['created', 'changed', 'attempted', 'announced'] as const
export type WalkName = (typeof WALKS)[number]

/** What a walk found, in the order of its times. */
export interface WalkBatch {
  /** The time of the last document. */
  readonly through: Ms
  readonly found: readonly WalkFinding[]
}

export interface WalkFinding {
  readonly slots: readonly RollupSlot[]
  /** Names the change itself, so that it need not be marked twice; null where the document only precedes the change. */
  readonly change: string | null
}

/** Reads in batches what was stamped at `from` or later, and before `until` where that is given. */
export type Walk = (from: Ms, until?: Ms) => AsyncGenerator<WalkBatch>

/** What is stamped with a time has arrived this much later; what takes longer is found by the repair. */
export const SETTLED_AFTER_MS = 120_000
const BATCH = 1_000
const INVOICE_PARTS = { workspaceId: 1, mode: 1, paidAt: 1, updatedAt: 1 } as const
type Seen = Pick<InvoiceDocument, '_id' | 'workspaceId' | 'mode' | 'paidAt' | 'updatedAt'>

/** The walks on MongoDB. A version that does not store figures stamps what it writes too, so that its changes are found. */
export function createWalks(db: Database): Readonly<Record<WalkName, Walk>> {
  const invoices = db.collection(INVOICES)
  return {
    created: async function* (from, until) {
      const rows = invoices.find<Seen>(CREATED(from, until), { projection: INVOICE_PARTS }).sort({ _id: 1 })
      for await (const batch of inBatches(rows)) yield batchOf(batch, ({ _id: id }) => uuidTime(id), slotsOfInvoice)
    },
    changed: async function* (from, until) {
      const rows = invoices
        .find<Seen>(CHANGED(from, until), { projection: INVOICE_PARTS, hint: 'invoice_changed' })
        .sort({ updatedAt: 1 })
      for await (const batch of inBatches(rows))
        yield batchOf(batch, ({ updatedAt }) => toMs(updatedAt), slotsOfInvoice)
    },
    attempted: async function* (from, until) {
      const rows = db
        .collection(WEBHOOK_ATTEMPTS)
        .find({ at: between(from, until) }, { projection: { at: 1, deliveryId: 1 }, hint: 'attempt_life' })
        .sort({ at: 1 })
      for await (const batch of inBatches(rows)) {
        const slots = await slotsOfDeliveries(db, [...new Set(batch.map(({ deliveryId }) => deliveryId))])
        yield { through: toMs(batch.at(-1)?.at ?? toDate(from)), found: [{ slots, change: null }] }
      }
    },
    announced: async function* (from, until) {
      const rows = db
        .collection(EVENTS)
        .find(
          { createdAt: between(from, until) },
          { projection: { workspaceId: 1, mode: 1, createdAt: 1 }, hint: 'event_life' },
        )
        .sort({ createdAt: 1 })
      for await (const batch of inBatches(rows)) {
        const slots = await slotsOfEvents(db, batch)
        yield { through: toMs(batch.at(-1)?.createdAt ?? toDate(from)), found: [{ slots, change: null }] }
      }
    },
  }
}

const CREATED = (from: Ms, until?: Ms) => ({
  _id: { $gte: uuidLowerBound(from), ...(until !== undefined && { $lt: uuidLowerBound(until) }) },
})
const CHANGED = (from: Ms, until?: Ms) => ({ version: { $gt: 1 }, updatedAt: between(from, until) })

/** Whether any walk would find something from these places on: one command, where nothing happened. */
export async function hasNews(db: Database, from: Readonly<Record<WalkName, Ms>>): Promise<boolean> {
  const found = await Promise.all([
    isAny(db, { of: INVOICES, filter: CREATED(from.created), hint: '_id_' }),
    isAny(db, { of: INVOICES, filter: CHANGED(from.changed), hint: 'invoice_changed' }),
    isAny(db, { of: WEBHOOK_ATTEMPTS, filter: { at: between(from.attempted) }, hint: 'attempt_life' }),
    isAny(db, { of: EVENTS, filter: { createdAt: between(from.announced) }, hint: 'event_life' }),
  ])
  return found.includes(true)
}

const between = (from: Ms, until?: Ms) => ({
  $gte: toDate(from),
  ...(until !== undefined && { $lt: toDate(until) }),
})

async function* inBatches<T>(rows: AsyncIterable<T>): AsyncGenerator<readonly T[]> {
  let batch: T[] = []
  for await (const row of rows) {
    batch.push(row)
    if (batch.length < BATCH) continue
    yield batch
    batch = []
  }
  if (batch.length > 0) yield batch
}

function batchOf(
  rows: readonly Seen[],
  timeOf: (row: Seen) => Ms,
  slotsOf: (row: Seen) => readonly RollupSlot[],
): WalkBatch {
  const last = rows.at(-1)
  return {
    through: last === undefined ? 0 : timeOf(last),
    found: rows.map((row) => ({ slots: slotsOf(row), change: `${row._id} ${toMs(row.updatedAt)}` })),
  }
}

/** An invoice counts in the hour of its creation and, once it is paid, in that of its payment, which never changes. */
function slotsOfInvoice({ _id, workspaceId, mode, paidAt }: Seen): readonly RollupSlot[] {
  const created = slotAt('invoices', workspaceId, mode, uuidTime(_id))
  return paidAt === null ? [created] : [created, slotAt('invoices', workspaceId, mode, toMs(paidAt))]
}

async function slotsOfDeliveries(db: Database, ids: readonly string[]): Promise<readonly RollupSlot[]> {
  const found = await db
    .collection(WEBHOOK_DELIVERIES)
    .find({ _id: { $in: [...ids] } }, { projection: { endpointId: 1, mode: 1, createdAt: 1 } })
    .toArray()
  return found.map(({ endpointId, mode, createdAt }) => slotAt('deliveries', endpointId, mode, toMs(createdAt)))
}

/** A delivery has the time of its event, whenever it is made. Endpoints that do not receive the event count nothing. */
async function slotsOfEvents(
  db: Database,
  events: readonly { workspaceId: string; mode: RollupSlot['mode']; createdAt: Date }[],
): Promise<readonly RollupSlot[]> {
  const workspaces = [...new Set(events.map(({ workspaceId }) => workspaceId))]
  const endpoints = await db
    .collection(WEBHOOK_ENDPOINTS)
    .find({ workspaceId: { $in: workspaces } }, { projection: { workspaceId: 1 } })
    .toArray()
  return events.flatMap(({ workspaceId, mode, createdAt }) =>
    endpoints
      .filter((endpoint) => endpoint.workspaceId === workspaceId)
      .map(({ _id }) => slotAt('deliveries', _id, mode, toMs(createdAt))),
  )
}
