import { z } from 'zod'
import type { DeliveryReads } from '#shared/db/deliveries/delivery-reads.ts'
import { EVENT_TYPES } from '#shared/domain/enumerations.ts'
import { WEBHOOK_RETRY_DELAYS_MS } from '#shared/domain/webhook/schedule.ts'
import type { Delivery } from '#shared/ports/deliveries.ts'
import type { EventRecord } from '#shared/ports/events.ts'
import { explainFailure } from '#shared/usecases/deliveries/describe.ts'
import type { Uses } from '#shared/usecases/uses.ts'

export const DELIVERY_STATUSES = ['pending', 'held', 'succeeded', 'failed'] as const

const ms = z.number()

/** A delivery as shown on pages. */
export const deliveryWire = z.object({
  id: z.string(),
  eventId: z.string(),
  eventType: z.enum(EVENT_TYPES),
  endpointId: z.string(),
  /** Null when the endpoint is gone. */
  endpointUrl: z.string().nullable(),
  invoiceId: z.string().nullable(),
  invoiceNumber: z.number().nullable(),
  status: z.enum(DELIVERY_STATUSES),
  attempt: z.number(),
  attemptsMax: z.number(),
  generation: z.number(),
  /** It is being sent at this moment. */
  inFlight: z.boolean(),
  createdAt: ms,
  dueAt: ms,
  finishedAt: ms.nullable(),
  lastStatusCode: z.number().nullable(),
  lastError: z.string().nullable(),
  /** The last error as a sentence. */
  explanation: z.string().nullable(),
  /** Why it was sent again. */
  cause: z.enum(['first', 'resent', 'recovered']),
})
export type DeliveryWire = z.output<typeof deliveryWire>

type WireDeps = Uses<'deliveryReads' | 'endpoints'>

/** Rows with the names of the objects they belong to, in two reads for any number of rows. The output of the procedure leaves out the rest. */
export async function deliveriesToWire(deps: WireDeps, rows: readonly Delivery[]): Promise<DeliveryWire[]> {
  const invoiceIds = rows.flatMap((row) => invoiceOf(row) ?? [])
  const [endpoints, numbers] = await Promise.all([
    deps.endpoints.findByIds([...new Set(rows.map(({ endpointId }) => endpointId))]),
    deps.deliveryReads.invoiceNumbers([...new Set(invoiceIds)]),
  ])
  return rows.map((row) => {
    const invoiceId = invoiceOf(row)
    return {
      ...row,
      endpointUrl: endpoints.get(row.endpointId)?.url ?? null,
      invoiceId,
      invoiceNumber: invoiceId === null ? null : (numbers.get(invoiceId) ?? null),
      attemptsMax: WEBHOOK_RETRY_DELAYS_MS.length + 1,
      inFlight: row.status === 'pending' && row.leaseToken !== null,
      explanation: row.lastError === null ? null : explainFailure(row.lastError),
      cause: row.recoveryId !== undefined ? 'recovered' : row.generation > 0 ? 'resent' : 'first',
    }
  })
}

/** The invoice in an event's id; a test event belongs to none, although its id has the same form. */
function invoiceOf({ eventId, eventType }: Pick<Delivery, 'eventId' | 'eventType'>): string | null {
  const hex = /^evt_([0-9a-f]{32})_/.exec(eventId)?.[1]
  if (hex === undefined || eventType === 'webhook.test') return null
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`
}

/** An event in lists. */
export const eventWire = z.object({
  id: z.string(),
  type: z.enum(EVENT_TYPES),
  invoiceId: z.string().nullable(),
  invoiceNumber: z.number().nullable(),
  createdAt: ms,
  /** Its deliveries by status. */
  delivered: z.number(),
  waiting: z.number(),
  failed: z.number(),
})
export type EventWire = z.output<typeof eventWire>

/** Events with the numbers of their invoices and the status of their deliveries; each endpoint counts with its latest. */
export async function eventsToWire(
  reads: Pick<DeliveryReads, 'invoiceNumbers' | 'ofEvents'>,
  workspaceId: string,
  events: readonly Omit<EventRecord, 'body'>[],
): Promise<EventWire[]> {
  const [numbers, deliveries] = await Promise.all([
    reads.invoiceNumbers([...new Set(events.flatMap(({ invoiceId }) => invoiceId ?? []))]),
    reads.ofEvents(
      workspaceId,
      events.map(({ id }) => id),
    ),
  ])
  const latest = new Map(deliveries.map((delivery) => [`${delivery.eventId} ${delivery.endpointId}`, delivery]))
  return events.map(({ id, type, invoiceId, createdAt }) => {
    const own = [...latest.values()].filter(({ eventId }) => eventId === id)
    const count = (...statuses: readonly Delivery['status'][]) =>
      own.filter(({ status }) => statuses.includes(status)).length
    return {
      ...{ id, type, invoiceId, createdAt },
      invoiceNumber: invoiceId === null ? null : (numbers.get(invoiceId) ?? null),
      delivered: count('succeeded'),
      waiting: count('pending', 'held'),
      failed: count('failed'),
    }
  })
}
