import type { InvoiceRepository } from '#shared/db/invoices/invoice-repository.ts'
import type { Ms } from '#shared/domain/invoice/model.ts'
import type { Uses } from '#shared/usecases/uses.ts'

/** Upper bound on writers' clock skew plus write latency. Rows that appear later with an older timestamp are left to the sweep. */
const MARGIN_MS = 5_000
/** Beyond this many keys all marks are dropped: the next reads start at the front. */
const KEYS_MAX = 10_000

/** One read in flight. */
interface Reading {
  /** Older work is not read; null reads all of it. */
  readonly from: Ms | null
  /** Its position among all reads and sweeps of the process. */
  readonly turn: number
}

/**
 * Where reads of the oldest waiting work may start, for each key. A store keeps entries removed from the front of an index for
 * minutes, and a read from the very front walks over all of them: each completed row slows the next read. A mark is this process's
 * estimate, in writers' timestamps, of where unread work begins. Because it is only an estimate, the full sweep
 * must report what it finds to `lower`, and work below a mark waits for the next sweep, never longer.
 */
export interface LowWaterMarks<Key> {
  /** Starts a read for these keys together. */
  begin(keys: readonly Key[]): Reading
  /** Records that the read found work waiting since these times, oldest first, and no older work of the key. */
  saw(reading: Reading, key: Key, since: readonly Ms[]): void
  /** Records that work of the key has waited since then; a read that is in flight now may have missed it and raises nothing. */
  lower(key: Key, since: Ms): void
}

interface LowWaterMark {
  readonly from: Ms
  /** The latest time of all work seen so far. */
  readonly newest: Ms
  /** A read that began before this turn raises nothing. */
  readonly turn: number
}

/** Low-water marks of one process; empty at first. */
export function createLowWaterMarks<Key>(): LowWaterMarks<Key> {
  const lowWaterMarks = new Map<Key, LowWaterMark>()
  let turn = 0
  let forgotten = 0
  const markOf = (key: Key): LowWaterMark =>
    lowWaterMarks.get(key) ?? { from: Number.NEGATIVE_INFINITY, newest: Number.NEGATIVE_INFINITY, turn: forgotten }
  const set = (key: Key, mark: LowWaterMark): void => {
    if (lowWaterMarks.size >= KEYS_MAX && !lowWaterMarks.has(key)) {
      lowWaterMarks.clear()
      turn += 1
      forgotten = turn
    }
    lowWaterMarks.set(key, mark)
  }
  return {
    begin: (keys) => {
      turn += 1
      const lowest = Math.min(...keys.map((key) => markOf(key).from))
      return { from: Number.isFinite(lowest) ? lowest : null, turn }
    },
    saw: (reading, key, since) => {
      const known = markOf(key)
      if (known.turn > reading.turn) return
      const newest = Math.max(known.newest, since.at(-1) ?? known.newest)
      // Nothing found: all work seen so far is done.
      set(key, { from: (since[0] ?? newest) - MARGIN_MS, newest, turn: known.turn })
    },
    lower: (key, since) => {
      turn += 1
      const known = markOf(key)
      set(key, { ...known, from: Math.min(known.from, since), turn })
    },
  }
}

/** A full batch is trimmed at once; a smaller one waits this long for more. */
const BATCH = 64
const WAIT_MS = 40
/** Pauses between tries of a trim that failed; then the entries are relayed again, which changes nothing. */
const RETRY_AFTER_MS = [100, 1_000] as const
/** A read at majority may show an entry for so long after it was trimmed. */
const SHOWN_AFTER_TRIM_MS = 2_000
/** Beyond this many invoices all are forgotten: their entries are relayed again, and every insert is refused. */
const REMEMBERED_MAX = 10_000

/** The entries of an invoice that are durable elsewhere. */
export interface RelayedEntries {
  readonly id: string
  readonly throughSeq: number
}

/** Removes relayed entries from outboxes. */
export interface OutboxTrimmer {
  /** The highest sequence number that this process relayed of the invoice and still remembers; 0 when none. */
  relayedThrough(invoiceId: string): number
  /** How many invoices wait for their trim. */
  waiting(): number
  /** Call it when everything that the entries stand for is durable. */
  relayed(entries: readonly RelayedEntries[]): Promise<void>
}

/** Trims with the round that relayed, and remembers nothing. */
export function trimAtOnce(invoices: Pick<InvoiceRepository, 'trimOutbox'>): OutboxTrimmer {
  return {
    relayedThrough: () => 0,
    waiting: () => 0,
    relayed: (entries) => invoices.trimOutbox(entries),
  }
}

/** A trimmer that no round waits for. */
export interface BackgroundTrimmer extends OutboxTrimmer {
  /** Trims what waits; resolves when no write is in flight. Later entries are trimmed as before. */
  flush(): Promise<void>
}

/** `trimmedAt` is the stopwatch reading of the trim, null before it. */
interface TrimState {
  readonly throughSeq: number
  readonly trimmedAt: number | null
}

/**
 * Trims in the background, many invoices in one write, and remembers by invoice and sequence number what was relayed, so that a later round
 * leaves it out. The memory only saves work: ids are deterministic, inserts refuse what exists, and nothing is sent for a
 * refused row. A trim that fails every time is forgotten, so that a sweep finds its entries.
 */
export function createBackgroundTrimmer(deps: Uses<'invoices' | 'after' | 'stopwatch' | 'logger'>): BackgroundTrimmer {
  const remembered = new Map<string, TrimState>()
  const writes = new Set<Promise<void>>()
  let waiting = new Map<string, number>()
  let writing = 0
  let cancelTimer: (() => void) | null = null

  const remember = (id: string, entry: TrimState): void => {
    if (remembered.size >= REMEMBERED_MAX) remembered.clear()
    // In the order of their last change, so that `forget` ends at the first that is too young.
    remembered.delete(id)
    remembered.set(id, entry)
  }
  const forgetShown = (): void => {
    const limit = deps.stopwatch() - SHOWN_AFTER_TRIM_MS
    for (const [id, { trimmedAt }] of remembered) {
      if (trimmedAt === null) continue
      if (trimmedAt > limit) return
      remembered.delete(id)
    }
  }
  const trim = async (batch: ReadonlyMap<string, number>): Promise<void> => {
    const entries = [...batch].map(([id, throughSeq]) => ({ id, throughSeq }))
    const isCurrent = ({ id, throughSeq }: RelayedEntries) => remembered.get(id)?.throughSeq === throughSeq
    for (const pauseMs of [...RETRY_AFTER_MS, null]) {
      try {
        await deps.invoices.trimOutbox(entries, { majority: false })
        const trimmedAt = deps.stopwatch()
        for (const entry of entries) if (isCurrent(entry)) remember(entry.id, { ...entry, trimmedAt })
        forgetShown()
        return
      } catch (error) {
        deps.logger.warn({ err: error, invoices: entries.length, pauseMs }, 'relayed entries could not be trimmed')
        if (pauseMs !== null) await new Promise<void>((resolve) => deps.after(pauseMs, resolve))
      }
    }
    for (const entry of entries) if (isCurrent(entry)) remembered.delete(entry.id)
  }
  const write = (): void => {
    cancelTimer?.()
    cancelTimer = null
    const batch = waiting
    waiting = new Map()
    if (batch.size === 0) return
    writing += batch.size
    const written: Promise<void> = trim(batch).finally(() => {
      writing -= batch.size
      writes.delete(written)
    })
    writes.add(written)
  }
  return {
    relayedThrough: (invoiceId) => {
      const entry = remembered.get(invoiceId)
      if (entry === undefined) return 0
      const isShown = entry.trimmedAt === null || deps.stopwatch() - entry.trimmedAt <= SHOWN_AFTER_TRIM_MS
      // An entry that is still there was brought back by the loss of a primary: it is relayed and trimmed again.
      if (!isShown) remembered.delete(invoiceId)
      return isShown ? entry.throughSeq : 0
    },
    waiting: () => waiting.size + writing,
    relayed: async (entries) => {
      for (const { id, throughSeq } of entries) {
        waiting.set(id, throughSeq)
        remember(id, { throughSeq, trimmedAt: null })
      }
      if (waiting.size >= BATCH) write()
      else if (waiting.size > 0) cancelTimer ??= deps.after(WAIT_MS, write)
    },
    flush: async () => {
      write()
      while (writes.size > 0) await Promise.all(writes)
    },
  }
}
