import { actionLabel, actorLabel } from '#shared/contracts/audit-labels.ts'
import { PaymeshError } from '#shared/contracts/errors.ts'
import type { TimelineEntry } from '#shared/contracts/explanations.ts'
import { EVENT_TYPES, type EventType, type Mode } from '#shared/domain/enumerations.ts'
import type { Ms, PaymentMethod } from '#shared/domain/invoice/model.ts'
import { NETWORKS } from '#shared/domain/networks.ts'
import { endpointName } from '#shared/domain/webhook/endpoint-name.ts'
import type { AuditRecord } from '#shared/ports/audit.ts'
import type { Catalog } from '#shared/ports/chain-catalog.ts'
import type { Delivery } from '#shared/ports/deliveries.ts'
import { type Invoice, ledgerKeys } from '#shared/ports/invoices.ts'
import type { Payment } from '#shared/ports/payments.ts'
import type { Uses } from '#shared/usecases/uses.ts'
import { amountText } from './exception-evidence.ts'
import type { ExplainInvoiceDeps } from './explain-invoice.ts'

/** Events whose deliveries are shown; an invoice with hundreds of payments has more. */
const EVENTS_MAX = 200

/** Dependencies of building a timeline; it never writes. */
export type TimelineDeps = Pick<ExplainInvoiceDeps, 'payments' | 'events' | 'deliveries' | 'exceptions' | 'catalog'> &
  Uses<'invoices' | 'endpoints' | 'audits'>

/** Payments, events, deliveries and operator actions about one invoice, newest first. Throws `NOT_FOUND`. */
export async function invoiceTimeline(
  deps: TimelineDeps,
  scope: { readonly workspaceId: string; readonly mode: Mode; readonly invoiceId: string },
): Promise<readonly TimelineEntry[]> {
  const { workspaceId, mode, invoiceId } = scope
  const invoice = await deps.invoices.findInWorkspace(workspaceId, mode, invoiceId)
  if (invoice === null) throw new PaymeshError('NOT_FOUND')
  const [payments, events, operations] = await Promise.all([
    deps.payments.listShown(invoiceId, ledgerKeys(invoice)),
    eventEntries(deps, invoice),
    actionEntries(deps, invoiceId),
  ])
  const entries = [...payments.flatMap((one) => paymentEntries(one, deps.catalog)), ...events, ...operations]
  // Each kind was gathered oldest first; the sort is stable, so of entries with the same time the later one comes first.
  return entries.reverse().sort((a, b) => b.at - a.at || ORDER.indexOf(a.kind) - ORDER.indexOf(b.kind))
}

/** Of entries with the same time, effects come before causes: a delivery before its event, an event before its payment. */
const ORDER: readonly TimelineEntry['kind'][] = ['delivery', 'audit', 'event', 'payment']

function paymentEntries(payment: Payment, catalog: Pick<Catalog, 'asset'>): readonly TimelineEntry[] {
  const { id, state, firstSeenAt, confirmedAt, block, network, updatedAt } = payment
  const amount = amountText(payment, catalog)
  const base = { kind: 'payment' as const, link: id, event: null }
  const seen: TimelineEntry = {
    ...base,
    id: `${id}:seen`,
    at: firstSeenAt,
    tone: 'plain',
    title: `${amount} detected`,
    detail:
      payment.kind === 'simulated'
        ? 'Simulated'
        : `${NETWORKS[network].name}, ${payment.txHash ?? 'not shown by a transaction'}`,
  }
  if (confirmedAt !== null && state === 'confirmed') {
    const detail = block === null ? null : `In block ${block.height}`
    return [
      seen,
      { ...base, id: `${id}:confirmed`, at: confirmedAt, tone: 'good', title: `${amount} confirmed`, detail },
    ]
  }
  if (state === 'detected' || state === 'confirmed') return [seen]
  const detail = payment.replacedBy === null ? null : `Replaced by ${payment.replacedBy}`
  return [seen, { ...base, id: `${id}:gone`, at: updatedAt, tone: 'bad', title: `${amount} ${state}`, detail }]
}

/** Events in their order, then those not relayed yet in theirs, then deliveries in the order of their events. */
async function eventEntries(deps: TimelineDeps, invoice: Invoice): Promise<readonly TimelineEntry[]> {
  const relayed = (await deps.events.listByInvoice(invoice.terms.id)).slice(-EVENTS_MAX)
  const deliveries = (await Promise.all(relayed.map(({ id }) => deps.deliveries.listByEvent(id)))).flat()
  const endpoints = await deps.endpoints.findByIds([...new Set(deliveries.map(({ endpointId }) => endpointId))])
  const known = new Set(relayed.map(({ id }) => id))
  const waiting = invoice.outbox.flatMap((entry) =>
    entry.kind === 'event' && isEvent(entry.type) && !known.has(entry.eventId) ? [{ ...entry, type: entry.type }] : [],
  )
  const nameOf = ({ endpointId }: Delivery) => endpointName(endpoints.get(endpointId) ?? null)
  return [
    ...relayed.map(
      ({ id, type, createdAt }): TimelineEntry => ({
        id,
        at: createdAt,
        kind: 'event',
        tone: 'plain',
        title: eventSentence(type, createdAt, invoice.state.paymentMethods),
        detail: announced(deliveries.filter(({ eventId }) => eventId === id).length),
        link: id,
        event: { id, type },
      }),
    ),
    ...waiting.map(
      ({ eventId, type, at }): TimelineEntry => ({
        id: eventId,
        at,
        kind: 'event',
        tone: 'plain',
        title: eventSentence(type, at, invoice.state.paymentMethods),
        detail: 'Queued',
        link: null,
        event: { id: eventId, type },
      }),
    ),
    ...deliveries.map((delivery) => deliveryEntry(delivery, nameOf(delivery))),
  ]
}

const isEvent = (type: string): type is EventType => EVENT_TYPES.some((known) => known === type)

function announced(count: number): string {
  if (count === 0) return 'No endpoint was subscribed'
  return `Sent to ${count} ${count === 1 ? 'endpoint' : 'endpoints'}`
}

function deliveryEntry(delivery: Delivery, host: string): TimelineEntry {
  const { id, status, attempt, eventType, lastStatusCode, lastError, generation } = delivery
  const again = generation > 0 ? ', resent' : ''
  const answer = lastStatusCode === null ? (lastError ?? 'no response') : String(lastStatusCode)
  const shown = {
    succeeded: {
      tone: 'good',
      title: `Delivered to ${host}`,
      detail: `${answer}, attempt ${attempt}${again}`,
    },
    failed: {
      tone: 'bad',
      title: `Failed at ${host}`,
      detail: `${answer} after ${attempt} attempts${again}`,
    },
    held: { tone: 'plain', title: `Paused for ${host}`, detail: `The endpoint is paused${again}` },
    pending: {
      tone: attempt > 0 ? 'bad' : 'plain',
      title: attempt > 0 ? `${host} returned ${answer}` : `Queued for ${host}`,
      detail:
        attempt > 0
          ? `Attempt ${attempt} failed; next attempt ${new Date(delivery.dueAt).toISOString()}${again}`
          : null,
    },
  } as const
  const event = { id: delivery.eventId, type: eventType }
  return { id, at: delivery.finishedAt ?? delivery.createdAt, kind: 'delivery', ...shown[status], link: id, event }
}

async function actionEntries(deps: TimelineDeps, invoiceId: string): Promise<readonly TimelineEntry[]> {
  const exceptions = await deps.exceptions.listByInvoice(invoiceId)
  const subjects = [invoiceId, ...exceptions.map(({ id }) => id)]
  const rows = (await Promise.all(subjects.map((subject) => deps.audits.listBySubject(subject)))).flat()
  return rows.map(actionEntry)
}

function actionEntry({ id, at, actor, action, detail }: AuditRecord): TimelineEntry {
  const reason = detail['reason'] ?? detail['note'] ?? null
  const title = `${actionLabel(action)} by ${actorLabel(actor)}`
  return {
    id,
    at,
    kind: 'audit',
    tone: 'plain',
    title,
    detail: reason === null ? null : String(reason),
    link: null,
    event: null,
  }
}

/** What an event of an invoice means, as a sentence for people. `methods` are the invoice's payment methods, in their order. */
export function eventSentence(type: EventType, at: Ms, methods: readonly PaymentMethod[]): string {
  if (type !== 'invoice.pending') return SENTENCES[type]
  // The method that began last before the event; those of one moment follow each other.
  const method = methods.findLast(({ from }) => from <= at) ?? methods[0]
  return method === undefined ? SENTENCES[type] : `Payer chose ${method.symbol} on ${NETWORKS[method.network].name}`
}

const SENTENCES: Readonly<Record<EventType, string>> = {
  'invoice.created': 'Invoice created',
  'invoice.pending': 'Payer chose a coin',
  'invoice.partial': 'Part of the amount arrived',
  'invoice.confirming': 'The whole amount arrived and is being confirmed',
  'invoice.paid': 'Paid',
  'invoice.overpaid': 'Paid, with more than was due',
  'invoice.expired': 'Expired',
  'invoice.late_payment': 'A payment arrived after the invoice expired',
  'invoice.cancelled': 'Cancelled',
  'payment.detected': 'A payment was seen',
  'payment.confirmed': 'A payment was confirmed',
  'webhook.test': 'Test event',
}
