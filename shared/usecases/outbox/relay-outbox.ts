import type { Ms } from '#shared/domain/invoice/model.ts'
import type { AuditRepository } from '#shared/ports/audit.ts'
import type { Delivery, DeliveryRepository } from '#shared/ports/deliveries.ts'
import type { EndpointRepository } from '#shared/ports/endpoints.ts'
import type { EventRecord, EventRepository } from '#shared/ports/events.ts'
import type { ExceptionRepository } from '#shared/ports/exceptions.ts'
import type { Invoice, InvoiceRepository } from '#shared/ports/invoices.ts'
import type { MailRepository } from '#shared/ports/mails.ts'
import { QUEUES, type QueueNotifier, type Runtime } from '#shared/ports/runtime.ts'
import type { WorkspaceRepository } from '#shared/ports/workspaces.ts'
import type { PublicUrls } from '#shared/usecases/invoices/present-invoice.ts'
import { createLowWaterMarks } from './low-water-marks.ts'
import { auditRecords, deliveriesFor, eventRecords, exceptionChanges, mailRecords } from './relay-records.ts'

/** Invoices relayed in one batch, from all waiting shards. */
const BATCH = 64
/** Entries older than this got no wake-up, or their worker died. */
const OVERDUE_AFTER_MS = 1_000
/** Concurrent batches, of different shards. */
const ROUNDS_MAX = 2
/** After this many failures of one invoice an exception is opened. */
const FAILURES_MAX = 20
/** A failing invoice is tried again after a pause that doubles from here … */
const PAUSE_MIN_MS = 250
/** … up to this. */
const PAUSE_MAX_MS = 60_000

/** Dependencies of the relay. */
export interface RelayDeps extends Runtime {
  readonly invoices: Pick<InvoiceRepository, 'outboxBatch' | 'overdueOutboxShards' | 'trimOutbox'>
  readonly events: Pick<EventRepository, 'insertMany'>
  readonly endpoints: Pick<EndpointRepository, 'listOf'>
  readonly deliveries: Pick<DeliveryRepository, 'insertMany'>
  readonly exceptions: Pick<ExceptionRepository, 'applyChanges' | 'open' | 'close'>
  readonly mails: Pick<MailRepository, 'insertMany'>
  readonly audits: Pick<AuditRepository, 'insertMany'>
  readonly workspaces: Pick<WorkspaceRepository, 'findById'>
  readonly notifier: QueueNotifier
  readonly urls: PublicUrls
}

/** Turns outbox entries into events, deliveries, inbox rows, mails and audit rows. */
export interface OutboxRelay {
  /**
   * Relays everything that waits in a shard at this moment; concurrent calls for shards share their batches, and
   * later entries have a separate wake-up. Every row it writes has a deterministic id and the outbox is trimmed
   * last, so it may stop at any line and run again: each event, delivery, inbox row and mail exists once. An invoice
   * that cannot be relayed is retried after a growing pause and does not delay the others.
   */
  relayShard(shard: number): Promise<void>
  /** Shards with overdue entries that got no wake-up; relaying one of them then reaches the oldest. */
  overdueShards(): Promise<readonly number[]>
}

interface Failure {
  readonly count: number
  readonly retryAt: Ms
}

/** Makes a relay that keeps in memory which invoices failed recently, and where each shard's next read starts. */
export function createOutboxRelay(deps: RelayDeps): OutboxRelay {
  const failures = new Map<string, Failure>()
  const lowWaterMarks = createLowWaterMarks<number>()

  const setAside = async (invoice: Invoice, cause: unknown): Promise<void> => {
    const count = (failures.get(invoice.terms.id)?.count ?? 0) + 1
    const pause = Math.min(PAUSE_MIN_MS * 2 ** Math.min(count, 16), PAUSE_MAX_MS)
    failures.set(invoice.terms.id, { count, retryAt: deps.clock.now() + pause })
    deps.metrics.count('outbox_relay_failed_total')
    deps.logger.warn({ err: cause, invoiceId: invoice.terms.id, failures: count }, 'outbox of an invoice failed')
    if (count >= FAILURES_MAX) await reportBlocked(deps, invoice, count)
  }

  const relay = async (batch: readonly Invoice[]): Promise<void> => {
    await relayBatch(deps, batch)
    const healed = batch.filter(({ terms }) => (failures.get(terms.id)?.count ?? 0) >= FAILURES_MAX)
    for (const { terms } of batch) failures.delete(terms.id)
    if (healed.length > 0) await deps.exceptions.close(healed.map(blockedId), deps.clock.now())
  }

  const relayEach = async (batch: readonly Invoice[]): Promise<void> => {
    for (const invoice of batch) {
      try {
        await relay([invoice])
      } catch (cause) {
        await setAside(invoice, cause)
      }
    }
  }

  /** Relays one batch of these shards; true when there may be more. */
  const relayNext = async (shards: readonly number[]): Promise<boolean> => {
    const now = deps.clock.now()
    const paused = [...failures.values()].filter((failure) => failure.retryAt > now).length
    const reading = lowWaterMarks.begin(shards)
    const found = await deps.invoices.outboxBatch(shards, BATCH + paused, reading.from)
    const since = found.flatMap(({ outbox }) => outbox.map(({ at }) => at)).sort((a, b) => a - b)
    for (const shard of shards) lowWaterMarks.saw(reading, shard, since)
    const batch = found.filter((invoice) => (failures.get(invoice.terms.id)?.retryAt ?? 0) <= now)
    if (batch.length === 0) return false
    try {
      await relay(batch)
    } catch (cause) {
      // One bad invoice fails the whole batch: relaying one by one isolates it, and the others continue.
      deps.logger.debug({ err: cause, shards }, 'outbox batch failed, going one by one')
      await relayEach(batch)
    }
    return found.length === BATCH + paused
  }

  return {
    ...createShardRounds(relayNext),
    overdueShards: async () => {
      const shards = await deps.invoices.overdueOutboxShards(deps.clock.now() - OVERDUE_AFTER_MS)
      for (const shard of shards) lowWaterMarks.lower(shard, 0)
      return shards
    },
  }
}

/**
 * A round takes all requested shards: many cost the store little more than one. While it runs, a second
 * round serves the other shards, so that a lone change rarely waits; a request for a shard of a running round joins
 * a later one, which reads after the request.
 */
function createShardRounds(next: (shards: readonly number[]) => Promise<boolean>): Pick<OutboxRelay, 'relayShard'> {
  interface Asked {
    readonly shard: number
    readonly resolve: () => void
    readonly reject: (error: unknown) => void
  }
  let asked: readonly Asked[] = []
  let rounds = 0
  const busy = new Set<number>()

  const round = async (served: readonly Asked[]): Promise<void> => {
    const shards = [...new Set(served.map(({ shard }) => shard))]
    for (const shard of shards) busy.add(shard)
    rounds += 1
    try {
      // The rest of a backlog is queued again, so that other shards get their turn.
      if (await next(shards)) asked = [...asked, ...served]
      else for (const { resolve } of served) resolve()
    } catch (error) {
      for (const { reject } of served) reject(error)
    }
    rounds -= 1
    for (const shard of shards) busy.delete(shard)
    start()
  }
  const start = (): void => {
    const served = asked.filter(({ shard }) => !busy.has(shard))
    if (served.length === 0 || rounds === ROUNDS_MAX) return
    asked = asked.filter(({ shard }) => busy.has(shard))
    void round(served)
  }
  return {
    relayShard: (shard) =>
      new Promise((resolve, reject) => {
        asked = [...asked, { shard, resolve, reject }]
        start()
      }),
  }
}

async function relayBatch(deps: RelayDeps, batch: readonly Invoice[]): Promise<void> {
  const events = batch.flatMap((invoice) => eventRecords(invoice, deps.urls))
  const workspaceIds = [...new Set(events.map((event) => event.workspaceId))]
  const [endpoints] = await Promise.all([
    // Read after the entries exist and never from a cache: an endpoint that existed before the change receives it.
    workspaceIds.length === 0 ? [] : deps.endpoints.listOf(workspaceIds),
    events.length > 0 && deps.events.insertMany(events),
  ])
  const deliveries = deliveriesFor(events, endpoints, deps.clock.now())
  if (deliveries.length > 0) await deps.deliveries.insertMany(deliveries)
  for (const endpointId of new Set(deliveries.map((delivery) => delivery.endpointId))) {
    deps.notifier.notify(QUEUES.webhooks, endpointId)
  }
  await relayInbox(deps, batch)
  await relayMails(deps, batch)
  const operations = batch.flatMap(auditRecords)
  if (operations.length > 0) await deps.audits.insertMany(operations)
  await deps.invoices.trimOutbox(
    batch.map((invoice) => ({ id: invoice.terms.id, throughSeq: invoice.outbox.at(-1)?.seq ?? 0 })),
  )
  deps.metrics.count('outbox_events_relayed_total', {}, events.length)
  report(deps, events, deliveries)
}

/** Log lines that connect an invoice to its event, and the event to its deliveries. */
function report(deps: RelayDeps, events: readonly EventRecord[], deliveries: readonly Delivery[]): void {
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

async function relayInbox(deps: RelayDeps, batch: readonly Invoice[]): Promise<void> {
  const changes = batch.flatMap(exceptionChanges)
  if (changes.length > 0) await deps.exceptions.applyChanges(changes)
}

async function relayMails(deps: RelayDeps, batch: readonly Invoice[]): Promise<void> {
  for (const invoice of batch) {
    if (!invoice.outbox.some(({ kind, notice }) => kind === 'mail' || notice !== undefined)) continue
    const workspace = await deps.workspaces.findById(invoice.terms.workspaceId)
    if (workspace === null) throw new Error(`invoice ${invoice.terms.id} belongs to no workspace`)
    const mails = mailRecords(invoice, workspace)
    await deps.mails.insertMany(mails)
    for (const mail of mails) deps.notifier.notify(QUEUES.mail, mail.id)
  }
}

const blockedId = (invoice: Invoice): string => `outbox_blocked:${invoice.terms.id}`

/** A cause that fails the relay may fail this write as well; then the next failure reports again, and other invoices are not delayed. */
async function reportBlocked(deps: RelayDeps, invoice: Invoice, failures: number): Promise<void> {
  if (failures === FAILURES_MAX) deps.metrics.count('outbox_blocked_total')
  try {
    await deps.exceptions.open([
      {
        id: blockedId(invoice),
        kind: 'outbox_blocked',
        workspaceId: invoice.terms.workspaceId,
        mode: invoice.terms.mode,
        invoiceId: invoice.terms.id,
        paymentKey: null,
        detail: `The events of this invoice could not be stored in ${FAILURES_MAX} attempts.`,
        openedAt: deps.clock.now(),
        closedAt: null,
      },
    ])
  } catch (cause) {
    deps.logger.error({ err: cause, invoiceId: invoice.terms.id }, 'a blocked outbox could not be reported')
  }
}
