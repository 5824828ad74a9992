import type { Delivery } from '#shared/ports/deliveries.ts'
import type { EventRecord } from '#shared/ports/events.ts'
import type { Invoice } from '#shared/ports/invoices.ts'
import { QUEUES, type Runtime } from '#shared/ports/runtime.ts'
import type { PublicUrls } from '#shared/usecases/invoices/present-invoice.ts'
import type { Uses } from '#shared/usecases/uses.ts'
import type { FirstAttempts, RoundTimes } from './first-attempts.ts'
import {
  assertKnownEntries,
  auditRecords,
  deliveriesFor,
  eventRecords,
  exceptionChanges,
  mailRecords,
} from './relay-records.ts'

export type RelayBatchDeps = Runtime &
  Uses<'events' | 'endpoints' | 'deliveries' | 'exceptions' | 'mails' | 'audits' | 'workspaces' | 'notifier'> & {
    readonly urls: PublicUrls
  }

/** How a round reads the time, and who sends what it inserts; `attempts` is null in a process that sends nothing. */
export interface RoundContext extends Pick<RoundTimes, 'storeNow' | 'begunAt'> {
  readonly stopwatch: () => number
  readonly attempts: FirstAttempts | null
}

/**
 * Makes everything durable that the entries of these invoices stand for, and starts the first attempts. Events are durable before
 * deliveries are inserted, and both before a request begins. It never waits for a request. Safe to repeat.
 */
export async function relayBatch(
  deps: RelayBatchDeps,
  batch: readonly Invoice[],
  context: RoundContext,
): Promise<void> {
  batch.forEach(assertKnownEntries)
  const events = batch.flatMap((invoice) => eventRecords(invoice, deps.urls))
  const { fresh, deliveries } = await relayEvents(deps, events, context)
  await relayInbox(deps, batch)
  await relayMails(deps, batch)
  const operations = batch.flatMap(auditRecords)
  if (operations.length > 0) await deps.audits.insertMany(operations)
  // What another process stored before was counted and reported there.
  deps.metrics.count('outbox_events_relayed_total', {}, fresh.length)
  report(deps, fresh, deliveries)
}

/** Stores events, then their deliveries, and sends those that this process may send at once. */
async function relayEvents(
  deps: RelayBatchDeps,
  events: readonly EventRecord[],
  { stopwatch, attempts, storeNow, begunAt }: RoundContext,
): Promise<{ readonly fresh: readonly EventRecord[]; readonly deliveries: readonly Delivery[] }> {
  if (events.length === 0) return { fresh: [], deliveries: [] }
  const workspaceIds = [...new Set(events.map((event) => event.workspaceId))]
  const endpointsReadAt = stopwatch()
  const [endpoints, existing, isPaused] = await Promise.all([
    // Read after the entries exist and never from a cache: an endpoint that existed before the change receives it.
    deps.endpoints.listOf(workspaceIds),
    deps.events.insertMany(events),
    attempts === null || attempts.isPaused(),
  ])
  const fresh = events.filter(({ id }) => !existing.has(id))
  const pending = deliveriesFor(events, endpoints, deps.clock.now())
  if (pending.length === 0) return { fresh, deliveries: [] }
  const claimed =
    attempts === null || isPaused ? null : attempts.claim(pending, endpoints, { storeNow, begunAt, endpointsReadAt })
  const rows = claimed?.rows ?? pending
  try {
    const ours = await deps.deliveries.insertMany(rows)
    claimed?.send(ours, await bodiesOf(deps, events, existing, rows))
  } catch (error) {
    claimed?.abandon()
    throw error
  }
  const waiting = new Set(rows.filter(({ leaseToken }) => leaseToken === null).map(({ endpointId }) => endpointId))
  for (const endpointId of waiting) {
    // During a pause only the queue is asked, whose worker sends nothing until it is over.
    if (attempts === null || isPaused) deps.notifier.notify(QUEUES.webhooks, endpointId)
    else attempts.wake(endpointId)
  }
  return { fresh, deliveries: rows }
}

/**
 * The events that claimed rows are sent with. Where the insert met an event, another process, perhaps of another version, made its bytes:
 * those that are stored are sent.
 */
async function bodiesOf(
  deps: RelayBatchDeps,
  events: readonly EventRecord[],
  existing: ReadonlySet<string>,
  rows: readonly Delivery[],
): Promise<ReadonlyMap<string, EventRecord>> {
  const bodies = new Map(events.filter(({ id }) => !existing.has(id)).map((event) => [event.id, event]))
  const claimed = rows.filter(({ leaseToken, eventId }) => leaseToken !== null && existing.has(eventId))
  if (claimed.length === 0) return bodies
  const stored = await deps.events.findByIds([...new Set(claimed.map(({ eventId }) => eventId))])
  for (const [id, event] of stored) bodies.set(id, event)
  return bodies
}

/** Log lines that connect an invoice to its event, and the event to its deliveries. */
function report(deps: RelayBatchDeps, events: readonly EventRecord[], deliveries: readonly Delivery[]): void {
  for (const { id, invoiceId, type, createdAt } of events) {
    const deliveryIds = deliveries.filter(({ eventId }) => eventId === id).map((delivery) => delivery.id)
    const waitedMs = Math.max(0, deps.clock.now() - createdAt)
    deps.logger.info({ eventId: id, invoiceId, type, deliveries: deliveryIds.join(' '), waitedMs }, 'event relayed')
    deps.tracer?.record({
      name: 'relay event',
      invoiceId,
      kind: 'consumer',
      durationMs: waitedMs,
      failed: false,
      attributes: { eventId: id, type, deliveries: deliveryIds.length },
    })
  }
}

async function relayInbox(deps: RelayBatchDeps, batch: readonly Invoice[]): Promise<void> {
  const changes = batch.flatMap(exceptionChanges)
  if (changes.length > 0) await deps.exceptions.applyChanges(changes)
}

async function relayMails(deps: RelayBatchDeps, batch: readonly Invoice[]): Promise<void> {
  for (const invoice of batch) {
    if (!invoice.outbox.some(({ kind, notice }) => kind === 'mail' || notice !== undefined)) continue
    const workspace = await deps.workspaces.findById(invoice.terms.workspaceId)
    if (workspace === null) throw new Error(`invoice ${invoice.terms.id} belongs to no workspace`)
    const mails = mailRecords(invoice, workspace)
    await deps.mails.insertMany(mails)
    for (const mail of mails) deps.notifier.notify(QUEUES.mail, mail.id)
  }
}
