import type { Ms } from '#shared/domain/invoice/model.ts'

/** Upper bound on writers' clock skew plus write latency. Rows that appear later with an older timestamp are left to the sweep. */
const MARGIN_MS = 5_000
/** Beyond this many keys all marks are dropped: the next reads start at the front. */
const KEYS_MAX = 10_000

/** One read in flight. */
export interface Reading {
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
