import type { ColdWatches, WatchIndex } from '#shared/ports/scanning.ts'

/** Memory is made smaller when so many cold addresses, and this share of the keys in it, arrived since. */
const SHRINK_MIN = 5_000
const SHRINK_SHARE = 0.1

/**
 * An index that holds hot addresses in memory and asks `cold` about the others. A key may leave memory only when `cold` answers for it, and
 * every positive answer of `cold` is checked with the store: so no watched address is ever missed, whatever was packed.
 */
export function createHotWatches(createIndex: () => WatchIndex, cold: ColdWatches): WatchIndex {
  let hot = createIndex()
  let shrunkAt = 0
  return {
    cold,
    has: (matchKey) => hot.has(matchKey) || cold.mayHold(matchKey),
    add: (matchKey) => hot.add(matchKey),
    get size() {
      return hot.size
    },
    async *keys(of) {
      const held = hot
      yield* held.keys()
      if (cold.size === 0 || of === 'hot') return
      for await (const matchKey of cold.everyAddress(of)) if (!held.has(matchKey)) yield matchKey
    },
    async among(matchKeys) {
      const ours = new Set(matchKeys.filter((matchKey) => hot.has(matchKey)))
      const doubtful = matchKeys.filter((matchKey) => !ours.has(matchKey))
      if (doubtful.length === 0) return ours
      return new Set([...ours, ...(await cold.among(doubtful))])
    },
    shrink() {
      if (cold.size - shrunkAt < Math.max(SHRINK_MIN, hot.size * SHRINK_SHARE)) return
      const kept = createIndex()
      for (const matchKey of keysInMemory(hot)) if (!cold.mayHold(matchKey)) kept.add(matchKey)
      hot = kept
      shrunkAt = cold.size
    },
  }
}

function keysInMemory(index: WatchIndex): Iterable<string> {
  const keys = index.keys()
  if (Symbol.iterator in keys) return keys
  throw new TypeError('an index in memory lists its keys without waiting')
}
