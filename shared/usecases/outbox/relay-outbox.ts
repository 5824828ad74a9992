import type { Ms } from '#shared/domain/invoice/model.ts'
import type { Invoice } from '#shared/ports/invoices.ts'
import type { Stopwatch } from '#shared/ports/timers.ts'
import type { Uses } from '#shared/usecases/uses.ts'
import type { FirstAttempts } from './first-attempts.ts'
import { createLowWaterMarks } from './low-water-marks.ts'
import { type OutboxTrimmer, trimAtOnce } from './outbox-trimmer.ts'
import { type RelayBatchDeps, relayBatch } from './relay-batch.ts'
import { createShardRounds } from './shard-rounds.ts'

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
export interface RelayAndSend {
  readonly attempts: FirstAttempts
  readonly trimmer: OutboxTrimmer
  readonly stopwatch: Stopwatch
}

/** Turns outbox entries into events, deliveries, inbox rows, mails and audit rows. */
export interface OutboxRelay {
  /**
   * Relays everything that waits in a shard at this moment; concurrent calls for shards share their batches, and
   * later entries have a separate wake-up. Every row it writes has a deterministic id and the outbox is trimmed
   * last, so it may stop at any line and run again: each event, delivery, inbox row and mail exists once. An invoice
   * that cannot be relayed is retried after a growing pause and does not delay the others. No request is awaited.
   */
  relayShard(shard: number): Promise<void>
  /** Shards with overdue entries that got no wake-up; relaying one of them then reaches the oldest. */
  overdueShards(): Promise<readonly number[]>
}

interface Failure {
  readonly count: number
  readonly retryAt: Ms
}

/**
 * Makes a relay that keeps in memory which invoices failed recently, and where each shard's next read starts. With `sending`, it
 * claims new deliveries for first attempts by this process and trims in the background; without, every delivery is inserted
 * pending and the outbox is trimmed with the round.
 */
export function createOutboxRelay(deps: RelayDeps, sending: RelayAndSend | null = null): OutboxRelay {
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
    relayShard: createShardRounds(relayNext),
    overdueShards: async () => {
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
