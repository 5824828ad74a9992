import { createHash } from 'node:crypto'
import { API_VERSION } from '#shared/contracts/webhooks/event.ts'
import type { WebhookEndpoint } from '#shared/db/endpoints/endpoint-model.ts'
import type { MailRecord } from '#shared/db/mails/mail-model.ts'
import { EVENT_TYPES, type EventType, EXCEPTION_KINDS, type ExceptionKind } from '#shared/domain/enumerations.ts'
import { deliveryIdFrom } from '#shared/domain/ids.ts'
import type { AuditedAction } from '#shared/domain/invoice/invoice-event.ts'
import type { Ms } from '#shared/domain/invoice/model.ts'
import type { AuditRecord } from '#shared/ports/audit.ts'
import type { Delivery } from '#shared/ports/deliveries.ts'
import type { EventRecord } from '#shared/ports/events.ts'
import type { ExceptionChange, ExceptionRecord } from '#shared/ports/exceptions.ts'
import type { Invoice, OutboxEntry } from '#shared/ports/invoices.ts'
import type { Workspace } from '#shared/ports/workspaces.ts'
import { type PublicUrls, presentInvoice } from '#shared/usecases/invoices/present-invoice.ts'

/** Detail texts of exceptions; identifiers are separate fields. */
const DETAILS: Readonly<Partial<Record<ExceptionKind, string>>> = {
  late: 'A payment arrived after the deadline and was not accepted automatically.',
  partial: 'The invoice ended with less than the amount due.',
  over: 'The customer paid too much.',
  wrong_asset: 'A payment in another coin arrived at the address.',
  wrong_network: 'A payment arrived at the address on another network.',
  cancelled_paid: 'A cancelled invoice received a payment.',
  reorged: 'The network reversed a payment that had been applied.',
  stuck: 'The payment has been waiting for confirmations for more than 24 hours.',
  many_payments: 'The invoice has more payments than webhooks report individually.',
  out_of_quote: 'A payment arrived when no price was locked.',
  refund_uncovered:
    'The network reversed a payment after a refund of it was prepared. Do not send the refund; withdraw it, or wait for the payment to return.',
}

/** Every kind of entry; a new one is relayed by versions that know it. */
const KINDS: Readonly<Record<OutboxEntry['kind'], true>> = {
  event: true,
  exception: true,
  exception_closed: true,
  mail: true,
  audit: true,
}

/** Throws for an entry that a later version wrote and this one does not know: relaying the others would trim it unseen. */
export function assertKnownEntries({ outbox }: Invoice): void {
  for (const { eventId, kind } of outbox) {
    if (!Object.hasOwn(KINDS, kind)) throw new TypeError(`outbox entry ${eventId} has the unknown kind ${kind}`)
  }
}

/**
 * The events of an invoice's outbox, in their order. The body depends only on the entry and on immutable fields
 * of the invoice, so building it again gives the same bytes.
 */
export function eventRecords(invoice: Invoice, urls: PublicUrls): readonly EventRecord[] {
  return invoice.outbox
    .filter((entry) => entry.kind === 'event')
    .map((entry) => ({
      id: entry.eventId,
      workspaceId: invoice.terms.workspaceId,
      mode: invoice.terms.mode,
      invoiceId: invoice.terms.id,
      seq: entry.seq,
      type: eventTypeOf(entry),
      body: eventBody(invoice, entry, urls),
      createdAt: entry.at,
    }))
}

function eventBody(invoice: Invoice, entry: OutboxEntry, urls: PublicUrls): Uint8Array {
  const object = presentInvoice(invoice.terms, entry.snapshot, urls)
  const body = {
    id: entry.eventId,
    object: 'event',
    type: entry.type,
    api_version: API_VERSION,
    livemode: invoice.terms.mode === 'live',
    created_at: new Date(entry.at).toISOString(),
    data: entry.payment === null ? { object } : { object, payment: entry.payment },
  }
  return new TextEncoder().encode(JSON.stringify(body))
}

/**
 * One pending delivery for each event and endpoint that subscribes to it and was enabled when the invoice changed. A row of an
 * endpoint that is disabled by now is paused when it is claimed and sent once the endpoint is enabled. All are due at once; their due times lie a millisecond apart before `now`, so that an idle endpoint gets them in order.
 */
export function deliveriesFor(
  events: readonly EventRecord[],
  endpoints: readonly WebhookEndpoint[],
  now: Ms,
): readonly Delivery[] {
  return events.flatMap((event, index) =>
    endpoints
      .filter((endpoint) => subscribes(endpoint, event) && wasEnabledAt(endpoint, event.createdAt))
      .map(({ id }) => newDelivery(event, id, { generation: 0, dueAt: now - (events.length - index) })),
  )
}

/** A pending delivery of an event that was never sent under this generation. */
export function newDelivery(
  { id, type, workspaceId, mode, createdAt }: Pick<EventRecord, 'id' | 'type' | 'workspaceId' | 'mode' | 'createdAt'>,
  endpointId: string,
  { generation, dueAt }: Pick<Delivery, 'generation' | 'dueAt'>,
): Delivery {
  return {
    id: deliveryId(id, endpointId, generation),
    ...{ eventId: id, eventType: type, endpointId, workspaceId, mode, createdAt },
    ...{ generation, status: 'pending', attempt: 0, dueAt, leaseToken: null, claims: 0 },
    ...{ finishedAt: null, lastError: null, lastStatusCode: null },
  }
}

/** The exception changes of an invoice's outbox, in its order. */
export function exceptionChanges(invoice: Invoice): readonly ExceptionChange[] {
  const opened = new Set<string>()
  return invoice.outbox
    .filter(({ kind }) => kind === 'exception' || kind === 'exception_closed')
    .map((entry) => {
      const record = exceptionRecord(invoice, entry)
      const isOpen = entry.kind === 'exception'
      if (isOpen) opened.add(record.id)
      return { record, seq: entry.seq, isOpen, at: entry.at, creates: opened.has(record.id) }
    })
}

function exceptionRecord(invoice: Invoice, entry: OutboxEntry): ExceptionRecord {
  const kind = exceptionKindOf(entry)
  return {
    id: `${kind}:${entry.paymentKey ?? invoice.terms.id}`,
    kind,
    workspaceId: invoice.terms.workspaceId,
    mode: invoice.terms.mode,
    invoiceId: invoice.terms.id,
    paymentKey: entry.paymentKey,
    detail: DETAILS[kind] ?? 'The invoice needs attention.',
    openedAt: entry.at,
    closedAt: null,
  }
}

/**
 * The mails of an invoice's outbox: to the owner of its workspace, and notices to the recipients they name. Their ids are derived
 * from the id of the entry.
 */
export function mailRecords(invoice: Invoice, workspace: Workspace): readonly MailRecord[] {
  return invoice.outbox.flatMap((entry) =>
    entry.kind === 'mail' ? [reorgMail(invoice, workspace, entry)] : noticeMails(workspace, entry),
  )
}

function reorgMail({ terms }: Invoice, { id: workspaceId, ownerEmail }: Workspace, entry: OutboxEntry): MailRecord {
  const { id, number, mode } = terms
  const data = { invoice_id: id, invoice_number: String(number), payment_key: entry.paymentKey ?? '', mode }
  const about = { workspaceId, template: 'payment_reorged', to: ownerEmail } as const
  return { id: `mail:${entry.eventId}`, ...about, data, createdAt: entry.at }
}

function noticeMails({ id: workspaceId }: Workspace, { eventId, at, notice }: OutboxEntry): readonly MailRecord[] {
  return (notice?.to ?? []).map((to, place) => {
    const id = `mail:${eventId}:owner:${place}`
    return { id, workspaceId, template: 'owner_notice', to, data: notice?.data ?? {}, createdAt: at }
  })
}

/** The operator actions of an invoice's outbox; the id is that of the entry. */
export function auditRecords({ terms, state, outbox }: Invoice): readonly AuditRecord[] {
  return outbox
    .filter((entry) => entry.kind === 'audit')
    .map((entry) => {
      const row = state.ledger.find(({ payment }) => payment === entry.paymentKey)
      return {
        id: entry.eventId,
        at: entry.at,
        actor: entry.actor ?? 'unknown',
        // The entries of this kind carry what was audited.
        action: `invoice.${entry.type as AuditedAction}`,
        subject: terms.id,
        workspaceId: terms.workspaceId,
        mode: terms.mode,
        detail: {
          payment: entry.paymentKey,
          value_base_units: (row?.acceptedBase ?? row?.amountBase)?.toString() ?? null,
          status: entry.snapshot.status,
          ...(entry.reason !== undefined && { reason: entry.reason }),
        },
      }
    })
}

function eventTypeOf(entry: OutboxEntry): EventType {
  const type = EVENT_TYPES.find((known) => known === entry.type)
  if (type === undefined) throw new TypeError(`outbox entry ${entry.eventId} has the unknown event type ${entry.type}`)
  return type
}

function exceptionKindOf(entry: OutboxEntry): ExceptionKind {
  const kind = EXCEPTION_KINDS.find((known) => known === entry.type)
  if (kind === undefined) throw new TypeError(`outbox entry ${entry.eventId} has the unknown kind ${entry.type}`)
  return kind
}

/** Two processes' readings of the store's clock never differ by more than this; a larger difference makes a process unready. */
const CLOCK_TOLERANCE_MS = 2_000

/** True when the endpoint subscribes to the event: same workspace, its mode, a subscribed type. Ignores pauses. */
export function subscribes(
  endpoint: WebhookEndpoint,
  event: Pick<EventRecord, 'workspaceId' | 'mode' | 'type'>,
): boolean {
  return (
    endpoint.workspaceId === event.workspaceId &&
    (endpoint.mode === 'both' || endpoint.mode === event.mode) &&
    endpoint.events.some((type) => type === '*' || type === event.type)
  )
}

/**
 * True when the endpoint was enabled at `at`, according to its last pause; the time of the change decides, not the time at
 * which the relay reads. A change within 2 s of a switch counts as made while enabled, because the clocks of two processes may
 * differ by that much and a missing delivery is worse than one more. An endpoint that was disabled before pauses were
 * recorded counts as disabled all along.
 */
export function wasEnabledAt(endpoint: WebhookEndpoint, at: Ms): boolean {
  const { status } = endpoint
  const from = endpoint.disabledAt ?? (status === 'disabled' ? Number.NEGATIVE_INFINITY : null)
  if (from === null) return true
  const to = status === 'disabled' ? Number.POSITIVE_INFINITY : (endpoint.enabledAt ?? from)
  return at <= from + CLOCK_TOLERANCE_MS || at >= to - CLOCK_TOLERANCE_MS
}

/** Id of the delivery of an event to an endpoint: the same three values always give the same id. Generation 0 is the first delivery. */
export function deliveryId(eventId: string, endpointId: string, generation: number): string {
  return deliveryIdFrom(createHash('sha256').update(`${eventId}|${endpointId}|${generation}`).digest('hex'))
}
