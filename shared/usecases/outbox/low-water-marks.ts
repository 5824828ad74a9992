import type { Ms } from '#shared/domain/invoice/model.ts'

/** Clocks of those who write differ by less, and a write is on its way for less; what comes later under an older time is found by a sweep. */
const MARGIN_MS = 5_000
/** Beyond this many keys everything is forgotten: their next reads begin at the front. */
const KEYS_MAX = 10_000

/** One read on its way. */
export interface Reading {
  /** No older work is looked for; null looks for all of it. */
  readonly from: Ms | null
  /** Its place among all reads and sweeps of the process. */
  readonly turn: number
}

/**
 * Where reads of the oldest waiting work may begin, for each key. A store keeps what was taken from the front of an index for
 * minutes, and a read from the very front walks over all of it: the more was done, the slower the next. A floor is what this
 * process saw with its own reads, in times of those who wrote, and a guess about what they write meanwhile; so a sweep that
 * reads everything has to tell `lower` what it finds, and work below a floor waits for the next sweep, never longer.
 */
export interface ReadFloors<Key> {
  /** Begins a read for these keys together. */
  begin(keys: readonly Key[]): Reading
  /** The read found work that waits since these times, oldest first, and nothing of the key that waits for longer. */
  saw(reading: Reading, key: Key, since: readonly Ms[]): void
  /** Work of the key has waited since then; a read that is on its way now does not know of it and raises nothing. */
  lower(key: Key, since: Ms): void
}

interface Floor {
  readonly from: Ms
  /** The latest time of all work that was seen. */
  readonly newest: Ms
  /** A read that began before it raises nothing. */
  readonly turn: number
}

/** Floors of one process; nothing is known at first. */
export function createReadFloors<Key>(): ReadFloors<Key> {
  const floors = new Map<Key, Floor>()
  let turn = 0
  let forgotten = 0
  const floorOf = (key: Key): Floor =>
    floors.get(key) ?? { from: Number.NEGATIVE_INFINITY, newest: Number.NEGATIVE_INFINITY, turn: forgotten }
  const set = (key: Key, floor: Floor): void => {
    if (floors.size >= KEYS_MAX && !floors.has(key)) {
      floors.clear()
      turn += 1
      forgotten = turn
    }
    floors.set(key, floor)
  }
  return {
    begin: (keys) => {
      turn += 1
      const lowest = Math.min(...keys.map((key) => floorOf(key).from))
      return { from: Number.isFinite(lowest) ? lowest : null, turn }
    },
    saw: (reading, key, since) => {
      const known = floorOf(key)
      if (known.turn > reading.turn) return
      const newest = Math.max(known.newest, since.at(-1) ?? known.newest)
      // Nothing found: all that was ever seen is done.
      set(key, { from: (since[0] ?? newest) - MARGIN_MS, newest, turn: known.turn })
    },
    lower: (key, since) => {
      turn += 1
      const known = floorOf(key)
      set(key, { ...known, from: Math.min(known.from, since), turn })
    },
  }
}
