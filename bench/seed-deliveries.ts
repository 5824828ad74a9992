import { createHash } from 'node:crypto'
import type { Database } from '#shared/db/connect.ts'
import { type DeliveryDocument, WEBHOOK_DELIVERIES } from '#shared/db/delivery-model.ts'
import { EVENT_TYPES, type EventType } from '#shared/domain/enumerations.ts'
import { eventId } from '#shared/domain/ids.ts'
import { deliveryId } from '#shared/usecases/delivery-id.ts'

const BATCH = 5_000
/** Batches on their way at once. */
const LANES = 4
const EVENTS_PER_INVOICE = 4
/** One row each so many milliseconds: a million rows are half a year. */
const EVERY_MS = 15_000
const COMMON: readonly EventType[] = ['invoice.created', 'invoice.pending', 'invoice.confirming', 'invoice.paid']
const RARE_EVERY = 5_000

/** A row of the seed: what a search may name it by. */
export interface SeededDelivery {
  readonly id: string
  readonly eventId: string
  readonly invoiceId: string
  readonly endpointId: string
  readonly eventType: EventType
  readonly createdAt: number
}

/** Whose rows they are. */
export interface DeliveryOwner {
  readonly workspaceId: string
  /** The last one is disabled: what is held belongs to it. */
  readonly endpointIds: readonly string[]
}

/** The invoice of a row, a UUID that everybody can work out again. */
function invoiceIdOf(row: number): string {
  const hex = createHash('sha256')
    .update(`invoice ${Math.floor(row / EVENTS_PER_INVOICE)}`)
    .digest('hex')
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-7${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20, 32)}`
}

/** What row number `row` is named by, oldest first. */
export function seededDelivery(row: number, rows: number, now: number, { endpointIds }: DeliveryOwner): SeededDelivery {
  const invoiceId = invoiceIdOf(row)
  const place = row % EVENTS_PER_INVOICE
  const event = eventId(invoiceId, place + 1)
  const eventType = row % RARE_EVERY === 0 ? 'webhook.test' : (COMMON[place] ?? 'invoice.paid')
  // Every eleventh row is of another type than the usual four.
  const type =
    row % 11 === 0 && eventType !== 'webhook.test' ? (EVENT_TYPES[row % EVENT_TYPES.length] ?? eventType) : eventType
  const endpointId =
    endpointIds[statusOf(row) === 'held' ? endpointIds.length - 1 : row % (endpointIds.length - 1)] ?? ''
  const createdAt = now - (rows - row) * EVERY_MS
  return { id: deliveryId(event, endpointId, 0), eventId: event, invoiceId, endpointId, eventType: type, createdAt }
}

/** Of a hundred rows 94 arrived, three failed, two wait for their next try and one is held. */
export function statusOf(row: number): DeliveryDocument['status'] {
  const place = (row * 37) % 100
  return place < 94 ? 'succeeded' : place < 97 ? 'failed' : place < 99 ? 'pending' : 'held'
}

/** Inserts the rows, several batches at once and unordered; nobody waits for a journal. */
export async function seedDeliveries(db: Database, rows: number, now: number, owner: DeliveryOwner): Promise<void> {
  const deliveries = db.collection(WEBHOOK_DELIVERIES)
  let next = 0
  const lane = async (): Promise<void> => {
    for (let from = next; from < rows; from = next) {
      next = from + BATCH
      const batch = Array.from({ length: Math.min(BATCH, rows - from) }, (_, at) =>
        document(from + at, rows, now, owner),
      )
      await deliveries.insertMany(batch, { ordered: false, writeConcern: { w: 1, journal: false } })
    }
  }
  await Promise.all(Array.from({ length: LANES }, lane))
}

function document(row: number, rows: number, now: number, owner: DeliveryOwner): DeliveryDocument {
  const { id, eventId: event, endpointId, eventType, createdAt } = seededDelivery(row, rows, now, owner)
  const status = statusOf(row)
  const ended = status === 'succeeded' || status === 'failed'
  const tries = status === 'failed' ? 9 : status === 'pending' ? 4 : status === 'held' ? 0 : 1
  return {
    ...{ _id: id, eventId: event, eventType, endpointId, workspaceId: owner.workspaceId, mode: 'test', generation: 0 },
    ...{ status, attempt: tries, leaseToken: null, claims: tries, createdAt: new Date(createdAt) },
    // What waits is due long after the benchmark.
    dueAt: new Date(status === 'pending' ? now + 86_400_000 + row : createdAt),
    finishedAt: ended ? new Date(createdAt + 60_000) : null,
    lastError: status === 'succeeded' || status === 'held' ? null : 'status_503',
    lastStatusCode: status === 'succeeded' ? 200 : status === 'held' ? null : 503,
  }
}
