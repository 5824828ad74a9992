import type { Ms } from '#shared/domain/invoice/model.ts'
import type { Clock } from './ports/runtime.ts'

/** Clocks of processes differ by less, and a write is on its way for less; what comes later under an older time is found by a sweep. */
const MARGIN_MS = 5_000
/** Beyond this many keys everything is forgotten: their next reads begin at the front. */
const KEYS_MAX = 10_000

/** One read on its way. */
export interface Reading {
  /** No older work is looked for; null looks for all of it. */
  readonly from: Ms | null
  readonly at: Ms
  readonly turn: number
}

/**
 * Where reads of the oldest waiting work may begin, for each key. A store keeps what was taken from the front of an index for
 * minutes, and a read from the very front walks over all of it: the more was done, the slower the next. A floor is what this
 * process saw with its own reads, and a guess about what others write meanwhile; so a sweep that reads everything has to tell
 * `lower` what it finds, and work below a floor waits for the next sweep, never longer.
 */
export interface ReadFloors<Key> {
  /** Begins a read for these keys together. */
  begin(keys: readonly Key[]): Reading
  /** The read found nothing of the key that waits for longer than since `oldest`, or nothing at all. */
  saw(reading: Reading, key: Key, oldest: Ms | null): void
  /** Work of the key has waited since then; a read that is on its way now does not know of it and raises nothing. */
  lower(key: Key, since: Ms): void
}

/** Floors of one process; nothing is known at first. */
export function createReadFloors<Key>(clock: Clock): ReadFloors<Key> {
  /** `turn`: a read that began before it raises nothing. */
  const floors = new Map<Key, { readonly from: Ms; readonly turn: number }>()
  let turn = 0
  let forgotten = 0
  const unknown = () => ({ from: Number.NEGATIVE_INFINITY, turn: forgotten })
  const set = (key: Key, floor: { readonly from: Ms; readonly turn: number }): void => {
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
      const lowest = Math.min(...keys.map((key) => (floors.get(key) ?? unknown()).from))
      return { from: Number.isFinite(lowest) ? lowest : null, at: clock.now(), turn }
    },
    saw: (reading, key, oldest) => {
      const known = floors.get(key) ?? unknown()
      if (known.turn > reading.turn) return
      set(key, { from: Math.min(oldest ?? reading.at, reading.at) - MARGIN_MS, turn: known.turn })
    },
    lower: (key, since) => {
      turn += 1
      set(key, { from: Math.min((floors.get(key) ?? unknown()).from, since), turn })
    },
  }
}
