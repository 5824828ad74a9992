import type { Ms } from '#shared/domain/invoice/model.ts'
import type { Delivery } from '#shared/ports/deliveries.ts'
import type { EventRecord } from '#shared/ports/events.ts'
import type { Invoice } from '#shared/ports/invoices.ts'
import { QUEUES, type Runtime } from '#shared/ports/runtime.ts'
import type { Stopwatch } from '#shared/ports/timers.ts'
import type { PublicUrls } from '#shared/usecases/invoices/present-invoice.ts'
import type { Uses } from '#shared/usecases/uses.ts'
import type { FirstAttempts, RoundTimes } from './first-attempts.ts'
import { createLowWaterMarks, type OutboxTrimmer, trimAtOnce } from './outbox-memory.ts'

import {
  assertKnownEntries,
  auditRecords,
  deliveriesFor,
  eventRecords,
  exceptionChanges,
  mailRecords,
} from './relay-records.ts'

/** Invoices relayed in one batch, from all waiting shards. */
const BATCH = 64
/** Entries older than this got no wake-up, or their worker died. */
const OVERDUE_AFTER_MS = 1_000
/** After this many failures of one invoice an exception is opened. */
const FAILURES_MAX = 20
/** A failing invoice is tried again after a pause that doubles from here … */
const PAUSE_MIN_MS = 250
/** … up to this. */
const PAUSE_MAX_MS = 60_000

/** Dependencies of the relay. */
export type RelayDeps = RelayBatchDeps & Uses<'invoices' | 'exceptions'>

/** What a process that sends webhooks adds to the relay. */
interface RelayAndSend {
  readonly attempts: FirstAttempts
  readonly trimmer: OutboxTrimmer
  readonly stopwatch: Stopwatch
}

/** Turns outbox entries into events, deliveries, inbox rows, mails and audit rows. */
export type OutboxRelay = ReturnType<typeof createOutboxRelay>

interface Failure {
  readonly count: number
  readonly retryAt: Ms
}

/**
 * Makes a relay that keeps in memory which invoices failed recently, and where each shard's next read starts. With `sending`, it
 * claims new deliveries for first attempts by this process and trims in the background; without, every delivery is inserted
 * pending and the outbox is trimmed with the round.
 */
export function createOutboxRelay(deps: RelayDeps, sending: RelayAndSend | null = null) {
  const trimmer = sending?.trimmer ?? trimAtOnce(deps.invoices)
  const stopwatch = sending?.stopwatch ?? (() => 0)
  /** How many invoices of the last read had nothing but entries that were relayed before. */
  let shownAgain = 0
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

  const relay = async (batch: readonly Invoice[], times: { storeNow: Ms; begunAt: number }): Promise<void> => {
    await relayBatch(deps, batch, { ...times, stopwatch, attempts: sending?.attempts ?? null })
    await trimmer.relayed(batch.map(({ terms, outbox }) => ({ id: terms.id, throughSeq: outbox.at(-1)?.seq ?? 0 })))
    const healed = batch.filter(({ terms }) => (failures.get(terms.id)?.count ?? 0) >= FAILURES_MAX)
    for (const { terms } of batch) failures.delete(terms.id)
    if (healed.length > 0) await deps.exceptions.close(healed.map(blockedId), deps.clock.now())
  }

  const relayEach = async (batch: readonly Invoice[], times: { storeNow: Ms; begunAt: number }): Promise<void> => {
    for (const invoice of batch) {
      try {
        await relay([invoice], times)
      } catch (cause) {
        await setAside(invoice, cause)
      }
    }
  }

  /** The invoice with the entries that are not known to be relayed. */
  const unrelayed = (invoice: Invoice): Invoice => {
    const throughSeq = trimmer.relayedThrough(invoice.terms.id)
    return throughSeq === 0 ? invoice : { ...invoice, outbox: invoice.outbox.filter(({ seq }) => seq > throughSeq) }
  }

  /** Relays one batch of these shards; true when there may be more. */
  const relayNext = async (shards: readonly number[]): Promise<boolean> => {
    const now = deps.clock.now()
    const paused = [...failures.values()].filter((failure) => failure.retryAt > now).length
    const limit = BATCH + paused + trimmer.waiting() + shownAgain
    const begunAt = stopwatch()
    const reading = lowWaterMarks.begin(shards)
    const { invoices: found, storeNow } = await deps.invoices.outboxBatch(shards, limit, reading.from)
    const since = found.flatMap(({ outbox }) => outbox.map(({ at }) => at)).sort((a, b) => a - b)
    for (const shard of shards) lowWaterMarks.saw(reading, shard, since)
    const fresh = found.map(unrelayed).filter(({ outbox }) => outbox.length > 0)
    shownAgain = found.length - fresh.length
    const batch = fresh.filter((invoice) => (failures.get(invoice.terms.id)?.retryAt ?? 0) <= now)
    if (batch.length === 0 || storeNow === null) return found.length === limit && shownAgain > 0
    const times = { storeNow, begunAt }
    try {
      await relay(batch, times)
    } catch (cause) {
      // One bad invoice fails the whole batch: relaying one by one isolates it, and the others continue.
      deps.logger.debug({ err: cause, shards }, 'outbox batch failed, going one by one')
      await relayEach(batch, times)
    }
    return found.length === limit
  }

  return {
    /**
     * Relays everything that waits in a shard at this moment; concurrent calls for shards share their batches, and
     * later entries have a separate wake-up. Every row it writes has a deterministic id and the outbox is trimmed
     * last, so it may stop at any line and run again: each event, delivery, inbox row and mail exists once. An invoice
     * that cannot be relayed is retried after a growing pause and does not delay the others. No request is awaited.
     */
    relayShard: createShardRounds(relayNext),

    /** Shards with overdue entries that got no wake-up; relaying one of them then reaches the oldest. */
    overdueShards: async (): Promise<readonly number[]> => {
      const shards = await deps.invoices.overdueOutboxShards(deps.clock.now() - OVERDUE_AFTER_MS)
      for (const shard of shards) lowWaterMarks.lower(shard, 0)
      return shards
    },
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

type RelayBatchDeps = Runtime &
  Uses<'events' | 'endpoints' | 'deliveries' | 'exceptions' | 'mails' | 'audits' | 'workspaces' | 'notifier'> & {
    readonly urls: PublicUrls
  }

/** How a round reads the time, and who sends what it inserts; `attempts` is null in a process that sends nothing. */
interface RoundContext extends Pick<RoundTimes, 'storeNow' | 'begunAt'> {
  readonly stopwatch: () => number
  readonly attempts: FirstAttempts | null
}

/**
 * Makes everything durable that the entries of these invoices stand for, and starts the first attempts. Events are durable before
 * deliveries are inserted, and both before a request begins. It never waits for a request. Safe to repeat.
 */
async function relayBatch(deps: RelayBatchDeps, batch: readonly Invoice[], context: RoundContext): Promise<void> {
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
    // Only the queue is asked: other processes serve it, and during a pause no worker sends anything.
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

/** Concurrent rounds, of different shards. */
const ROUNDS_MAX = 2

interface PendingRound {
  readonly shard: number
  readonly resolve: () => void
  readonly reject: (error: unknown) => void
}

/**
 * Runs `next`, which returns true when there may be more, for the requested shards. A round takes all requested shards: many cost the
 * store little more than one. While it runs, a second round serves the other shards, so that a lone change rarely waits; a request for
 * a shard of a running round joins a later one, which reads after the request. Requests that wait for the same round share one promise, so that
 * a long round keeps no more of them than there are shards.
 */
export function createShardRounds(
  next: (shards: readonly number[]) => Promise<boolean>,
): (shard: number) => Promise<void> {
  let pending: PendingRound[] = []
  /** The requests that later ones of their shard may join, because their round has not begun. */
  const waiting = new Map<number, Promise<void>>()
  let rounds = 0
  const busy = new Set<number>()
  let isStarting = false

  const round = async (served: readonly PendingRound[]): Promise<void> => {
    const shards = [...new Set(served.map(({ shard }) => shard))]
    for (const shard of shards) busy.add(shard)
    rounds += 1
    try {
      // The rest of a backlog is queued again, so that other shards get their turn.
      if (await next(shards)) pending = [...pending, ...served]
      else for (const { resolve } of served) resolve()
    } catch (error) {
      for (const { reject } of served) reject(error)
    }
    rounds -= 1
    for (const shard of shards) busy.delete(shard)
    start()
  }
  const start = (): void => {
    const served = pending.filter(({ shard }) => !busy.has(shard))
    if (served.length === 0 || rounds === ROUNDS_MAX) return
    pending = pending.filter(({ shard }) => busy.has(shard))
    for (const { shard } of served) waiting.delete(shard)
    void round(served)
  }
  return (shard) => {
    const shared = waiting.get(shard)
    if (shared !== undefined) return shared
    const promise = new Promise<void>((resolve, reject) => pending.push({ shard, resolve, reject }))
    waiting.set(shard, promise)
    // Shards that are requested in one turn share a round.
    if (!isStarting) {
      isStarting = true
      queueMicrotask(() => {
        isStarting = false
        start()
      })
    }
    return promise
  }
}
