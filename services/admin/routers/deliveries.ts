import { z } from 'zod'
import type { AdminDeps } from '#services/admin/assemble.ts'
import { router, workspaceMutation, workspaceQuery } from '#services/admin/trpc.ts'
import {
  DELIVERY_STATUSES,
  deliveriesToWire,
  deliveryWire,
  eventsToWire,
  eventWire,
} from '#services/admin/wire/delivery-wire.ts'
import { timeInput } from '#services/admin/wire/list-filters.ts'
import { orderInput } from '#services/admin/wire/money-wire.ts'
import { boundedText, trimmedText } from '#shared/contracts/bounded-text.ts'
import { PaymeshError } from '#shared/contracts/errors.ts'
import { EVENT_TYPES, type EventType, type Mode } from '#shared/domain/enumerations.ts'
import { isUuid } from '#shared/domain/ids.ts'
import { hostAndPath } from '#shared/domain/webhook/endpoint-name.ts'
import type { Delivery } from '#shared/ports/deliveries.ts'
import type { DeliverySearch, ListPlace } from '#shared/ports/delivery-search.ts'
import { describeDelivery } from '#shared/usecases/deliveries/describe.ts'
import { resendDelivery } from '#shared/usecases/deliveries/resend.ts'
import type { SearchedText } from '#shared/usecases/diagnostics/operator-search.ts'
import { searchedInvoices } from '#shared/usecases/diagnostics/payment-search.ts'
import { derivedUuid, type Operation } from '#shared/usecases/requests/begin-operation.ts'
import { requireOwn } from '#shared/usecases/requests/require-own.ts'
import { placeCursor, placeOf } from '../wire/place-cursor.ts'

/** Deliveries that one click may resend; for more, use a recovery, which has no limit. */
const RESEND_MAX = 100

const deliveryId = boundedText(30, 'is not a delivery ID').regex(/^whd_[0-9a-z]{26}$/, 'is not a delivery ID')
const page = { cursor: boundedText(200).optional(), limit: z.int().min(1).max(100).default(50) }
const phases = z.object({
  dnsMs: z.number().nullable(),
  connectMs: z.number().nullable(),
  tlsMs: z.number().nullable(),
  firstByteMs: z.number().nullable(),
})
const attemptWire = z.object({
  number: z.number(),
  at: z.number(),
  durationMs: z.number(),
  statusCode: z.number().nullable(),
  error: z.string().nullable(),
  explanation: z.string().nullable(),
  ip: z.string().nullable(),
  phases,
  responseBody: z.string(),
})
const detailWire = z.object({
  delivery: deliveryWire,
  past: z.array(attemptWire),
  future: z.array(z.object({ number: z.number(), at: z.number().nullable(), delayMs: z.number() })),
  attemptsMax: z.number(),
  endpointStatus: z.enum(['enabled', 'disabled']).nullable(),
  request: z.object({ headers: z.record(z.string(), z.string()), body: z.string(), cut: z.boolean() }).nullable(),
  /** Deliveries of the same event to the same endpoint, this one included, oldest first. */
  generations: z.array(deliveryWire),
})

/** Events and deliveries: search, details and resending. */
export const deliveriesRouter = router({
  list: workspaceQuery('viewer')
    .input(
      z.object({
        status: z.enum(DELIVERY_STATUSES).nullable().default(null),
        endpointId: z.uuid().nullable().default(null),
        eventType: z.enum(EVENT_TYPES).nullable().default(null),
        /** A delivery or event id, an event's type, an endpoint's URL or note, or what finds an invoice. */
        q: trimmedText(300).default(''),
        /** Inclusive. */
        from: timeInput.nullable().default(null),
        /** Exclusive. */
        until: timeInput.nullable().default(null),
        ...orderInput,
        ...page,
      }),
    )
    .output(z.object({ items: z.array(deliveryWire), nextCursor: z.string().nullable() }))
    .query(async ({ ctx, input }) => {
      const { deliveryReads, deliveries } = ctx.deps.instance
      const { workspaceId, mode, q, limit } = input
      if (q.startsWith('whd_')) {
        const found = await deliveries.findById(q)
        const own = found !== null && found.workspaceId === workspaceId && found.mode === mode ? [found] : []
        return { items: await deliveriesToWire(ctx.deps.instance, own), nextCursor: null }
      }
      const subject = await subjectOf(ctx.deps, workspaceId, mode, q)
      if (subject === null || contradicts(input, subject)) return { items: [], nextCursor: null }
      const search: DeliverySearch = {
        ...{ workspaceId, mode, status: input.status, eventId: subject.eventId, invoiceIds: subject.invoiceIds },
        endpointId: input.endpointId ?? subject.endpointId,
        eventType: input.eventType ?? subject.eventType,
        ...{
          createdFrom: input.from,
          createdBefore: input.until,
          order: input.order,
          after: afterOf(input.cursor),
          limit,
        },
      }
      const { deliveries: shown, next } = await deliveryReads.search(search)
      const nextCursor = next === null ? null : placeCursor({ at: next.createdAt, id: next.id })
      return { items: await deliveriesToWire(ctx.deps.instance, shown), nextCursor }
    }),

  get: workspaceQuery('viewer')
    .input(z.object({ deliveryId }))
    .output(detailWire)
    .query(async ({ ctx, input }) => {
      const { instance } = ctx.deps
      const delivery = await ownDelivery(ctx.deps, input)
      const [described, ofEvent] = await Promise.all([
        describeDelivery(instance, delivery),
        instance.deliveries.listByEvent(delivery.eventId),
      ])
      const siblings = ofEvent.filter(({ endpointId }) => endpointId === delivery.endpointId)
      const wired = await deliveriesToWire(instance, siblings)
      const own = wired.find(({ id }) => id === delivery.id)
      if (own === undefined) throw new PaymeshError('NOT_FOUND')
      const { past, future, attemptsMax, endpointStatus, request } = described
      return {
        ...{ delivery: own, attemptsMax, endpointStatus, request, generations: wired },
        future: [...future],
        past: [...past],
      }
    }),

  resend: workspaceMutation('support', { worksWhile: 'suspended' })
    .input(z.object({ deliveryId }))
    .output(deliveryWire)
    .mutation(async ({ ctx, input }) => {
      const { id } = await ownDelivery(ctx.deps, input)
      const made = await resendDelivery(ctx.deps.instance, { id, ...requestOf(ctx, input) })
      return await oneToWire(ctx.deps, made)
    }),

  resendMany: workspaceMutation('support', { worksWhile: 'suspended' })
    .input(z.object({ deliveryIds: z.array(deliveryId).min(1).max(RESEND_MAX) }))
    .output(
      z.object({
        sent: z.array(z.string()),
        refused: z.array(z.object({ deliveryId: z.string(), message: z.string() })),
      }),
    )
    .mutation(async ({ ctx, input }) => {
      const sent = new Set<string>()
      const refused: { deliveryId: string; message: string }[] = []
      for (const id of new Set(input.deliveryIds)) {
        try {
          await ownDelivery(ctx.deps, { ...input, deliveryId: id })
          sent.add((await resendDelivery(ctx.deps.instance, { id, ...requestOf(ctx, input) })).id)
        } catch (error) {
          if (!(error instanceof PaymeshError)) throw error
          refused.push({ deliveryId: id, message: error.message })
        }
      }
      return { sent: [...sent], refused }
    }),

  events: workspaceQuery('viewer')
    .input(z.object({ q: trimmedText(300).default(''), ...orderInput, ...page }))
    .output(z.object({ items: z.array(eventWire), nextCursor: z.string().nullable() }))
    .query(async ({ ctx, input }) => {
      const { deliveryReads, events } = ctx.deps.instance
      const { workspaceId, mode, q, limit } = input
      const subject = await subjectOf(ctx.deps, workspaceId, mode, q)
      if (subject === null) return { items: [], nextCursor: null }
      if (subject.eventId !== null) {
        const found = [...(await events.findByIds([subject.eventId])).values()]
        const own = found.filter((event) => event.workspaceId === workspaceId && event.mode === mode)
        return { items: await eventsToWire(deliveryReads, workspaceId, own), nextCursor: null }
      }
      const { invoiceIds } = subject
      if (subject.eventType !== null || subject.endpointId !== null) return { items: [], nextCursor: null }
      const rows = await deliveryReads.listEvents({
        ...{ workspaceId, mode, invoiceIds, order: input.order, after: afterOf(input.cursor), limit: limit + 1 },
      })
      const shown = rows.slice(0, limit)
      const last = shown.at(-1)
      const nextCursor =
        invoiceIds === null && rows.length > limit && last !== undefined
          ? placeCursor({ at: last.createdAt, id: last.id })
          : null
      return { items: await eventsToWire(deliveryReads, workspaceId, shown), nextCursor }
    }),

  event: workspaceQuery('viewer')
    .input(
      z.object({
        eventId: boundedText(62, 'is not an event ID').regex(
          /^evt_[0-9a-f]{32}(_[0-9a-z]{1,12}){1,2}$/,
          'is not an event ID',
        ),
      }),
    )
    .output(z.object({ event: eventWire, body: z.string(), deliveries: z.array(deliveryWire) }))
    .query(async ({ ctx, input }) => {
      const { instance } = ctx.deps
      const event = requireOwn((await instance.events.findByIds([input.eventId])).get(input.eventId), input)
      const [wired] = await eventsToWire(instance.deliveryReads, input.workspaceId, [event])
      if (wired === undefined) throw new PaymeshError('NOT_FOUND')
      const rows = await instance.deliveryReads.ofEvents(input.workspaceId, [event.id])
      const deliveries = await deliveriesToWire(instance, rows)
      return { event: wired, body: new TextDecoder().decode(event.body), deliveries }
    }),
})

/** A delivery of the workspace and mode; another workspace's is reported as unknown. */
const ownDelivery = async (
  { instance }: AdminDeps,
  input: Parameters<typeof requireOwn>[1] & { readonly deliveryId: string },
) => requireOwn(await instance.deliveries.findById(input.deliveryId), input)

/** Invoices whose events and deliveries a search shows. */
const INVOICES_MAX = 5

/** What a search text names, each null unless it names that. */
interface Subject {
  readonly eventId: string | null
  readonly invoiceIds: readonly string[] | null
  readonly eventType: EventType | null
  readonly endpointId: string | null
}

/** The subject of a search text: null when it cannot match anything. */
async function subjectOf(deps: AdminDeps, workspaceId: string, mode: Mode, q: string): Promise<Subject | null> {
  const none: Subject = { eventId: null, invoiceIds: null, eventType: null, endpointId: null }
  if (q === '') return none
  if (q.startsWith('evt_')) return { ...none, eventId: q }
  if (isUuid(q)) return { ...none, invoiceIds: [q.toLowerCase()] }
  const eventType = EVENT_TYPES.find((type) => type === q.toLowerCase())
  if (eventType !== undefined) return { ...none, eventType }
  const endpointId = await endpointNamed(deps, { workspaceId, mode, text: q })
  if (endpointId !== null) return { ...none, endpointId }
  const invoiceIds = await searchedInvoices(deps.money, { workspaceId, mode, text: q }, INVOICES_MAX)
  return invoiceIds.length === 0 ? null : { ...none, invoiceIds }
}

/** The endpoint whose URL, host with path, or note is this text; the first of several. */
async function endpointNamed({ instance }: AdminDeps, { workspaceId, mode, text }: SearchedText) {
  const wanted = text.toLowerCase()
  const endpoints = await instance.endpoints.list(workspaceId, mode)
  const named = endpoints.find(({ url, description }) =>
    [url, hostAndPath(url), description ?? ''].some((name) => name.toLowerCase() === wanted),
  )
  return named?.id ?? null
}

/** A text that names another endpoint or type than the one that is chosen. */
const contradicts = (chosen: Pick<Subject, 'endpointId' | 'eventType'>, named: Subject): boolean =>
  (['endpointId', 'eventType'] as const).some(
    (name) => chosen[name] !== null && named[name] !== null && chosen[name] !== named[name],
  )

interface OperatorAction {
  readonly workspaceId: string
  readonly opId: string
  readonly reason?: string | undefined
}

function requestOf(
  { actor, operation }: { readonly actor: string; readonly operation: Pick<Operation, 'isDone'> },
  { workspaceId, opId, reason }: OperatorAction,
) {
  const { isDone } = operation
  return { actor, opId: derivedUuid('resend', workspaceId, opId), reason: reason ?? null, isDone }
}

async function oneToWire({ instance }: AdminDeps, delivery: Delivery) {
  const [wired] = await deliveriesToWire(instance, [delivery])
  if (wired === undefined) throw new Error('one row gives one row')
  return wired
}

function afterOf(cursor: string | undefined): ListPlace | null {
  const place = placeOf(cursor)
  return place === null ? null : { createdAt: place.at, id: place.id }
}
