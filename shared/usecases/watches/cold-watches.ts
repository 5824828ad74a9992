import type { WalletRepository } from '#shared/db/wallets/wallet-repository.ts'
import type { Family, Mode } from '#shared/domain/enumerations.ts'
import type { Ms } from '#shared/domain/invoice/model.ts'
import type { ColdWatches, WatchIndex } from '#shared/ports/scanning.ts'
import { HASH_BYTES, PACK_HASHES, type WatchPack } from '#shared/ports/watch-packs.ts'
import type { Uses } from '#shared/usecases/uses.ts'
import { type BloomFilter, createBloomFilter } from './bloom-filter.ts'
import { createWatchHasher, type WatchHasher } from './watch-hash.ts'

/** Keys of one question to the store, and addresses of one page. */
const PAGE = 1_000

/** Dependencies of asking about cold addresses. */
export type ColdWatchDeps = Uses<'watchPacks' | 'wallets'>

/** The cold addresses of a mode and family; empty until the first `refresh`. One per process serves all networks of the family. */
export function createColdWatches(deps: ColdWatchDeps, mode: Mode, family: Family): ColdWatches {
  const { watchPacks, wallets } = deps
  const filter = createPackFilter()
  const { everyHot } = createHotReads(wallets, mode, family)
  /** Everything before is in the filter. */
  let place = { seq: 0, count: 0 }
  let turn: Promise<unknown> = Promise.resolve()

  async function readPacks(): Promise<'whole' | 'damaged'> {
    // Before the packs, which are stored first: otherwise one that is added meanwhile looks lost.
    const expected = await watchPacks.expected(mode, family)
    const heads = await watchPacks.heads(mode, family, place.seq)
    const isWhole =
      place.seq + heads.length >= expected &&
      (heads[0]?.count ?? 0) >= place.count &&
      heads.every(({ seq, count }, at) => seq === place.seq + at && (at === heads.length - 1 || count === PACK_HASHES))
    if (!isWhole) return 'damaged'
    const wanted = heads.filter(({ seq, count }) => seq > place.seq || count > place.count)
    filter.expect(wanted.reduce((sum, { count }) => sum + count, 0))
    let next = readAhead(wanted[0])
    for (const [at, { seq }] of wanted.entries()) {
      const pack = await next
      next = readAhead(wanted[at + 1])
      if (pack === null || !filter.take(pack, seq === place.seq ? place.count : 0)) return 'damaged'
      place = { seq, count: pack.count }
    }
    return 'whole'
  }

  /** The read of the next pack, which runs while this one is taken. */
  function readAhead(head: { readonly seq: number } | undefined): Promise<WatchPack | null> {
    const read = head === undefined ? Promise.resolve(null) : watchPacks.read(mode, family, head.seq)
    // It is awaited later, or never when the pack before it is damaged.
    read.catch(() => undefined)
    return read
  }

  return {
    mayHold: filter.has,
    everyHot,
    get size() {
      return filter.size
    },
    refresh() {
      // One after the other: a reading that began before the call may have missed what was packed since.
      const reading = turn.then(readPacks, readPacks)
      turn = reading
      return reading
    },
    async among(matchKeys) {
      const found = new Set<string>()
      for (let from = 0; from < matchKeys.length; from += PAGE) {
        const rows = await wallets.findAddresses(mode, family, matchKeys.slice(from, from + PAGE))
        for (const { matchKey } of rows) found.add(matchKey)
      }
      return found
    },
    everyAddress: (packedAfter) => everyAddress(deps, { mode, family }, packedAfter),
  }
}

/** The key of every watched address of a mode and family in their order, or of those that are in no pack of before `packedAfter`; read in pages, so that any number fits. */
export async function* everyAddress(
  { wallets }: Uses<'wallets'>,
  { mode, family }: { readonly mode: Mode; readonly family: Family },
  packedAfter?: Ms,
): AsyncGenerator<string> {
  let after: string | null = null
  do {
    const page: readonly { matchKey: string }[] = await wallets.watchPage(mode, family, after, PAGE, packedAfter)
    for (const { matchKey } of page) yield matchKey
    after = page.length < PAGE ? null : (page.at(-1)?.matchKey ?? null)
  } while (after !== null)
}

/** The cold addresses of every mode and family, made when they are first asked for: the networks of a process share them. */
export function shareColdWatches(deps: ColdWatchDeps): (mode: Mode, family: Family) => ColdWatches {
  const made = new Map<string, ColdWatches>()
  return (mode, family) => {
    const name = `${mode}:${family}`
    const shared = made.get(name) ?? createColdWatches(deps, mode, family)
    made.set(name, shared)
    return shared
  }
}

/** Share of the present size for which a layer has room beyond what was announced. */
const ROOM_SHARE = 0.1

/** The hashes of packs in memory: a filter that grows in layers, because a Bloom filter cannot be enlarged. */
export function createPackFilter() {
  const layers: BloomFilter[] = []
  let hasher: WatchHasher | null = null
  let salt: Uint8Array | null = null
  let size = 0

  const addLayer = (coming: number): BloomFilter => {
    const made = createBloomFilter(Math.ceil((size + coming) * ROOM_SHARE) + coming + PACK_HASHES)
    layers.push(made)
    return made
  }
  const layerWithRoom = (): BloomFilter => {
    const newest = layers.at(-1)
    return newest !== undefined && newest.room > 0 ? newest : addLayer(0)
  }

  return {
    has(matchKey: string) {
      if (hasher === null) return false
      hasher.hash(matchKey)
      for (const layer of layers) if (layer.has(hasher.low, hasher.high)) return true
      return false
    },
    /** Hashes that were added, some of them twice. */
    get size() {
      return size
    },
    /** Makes room for so many hashes, so that they are in one layer. */
    expect(coming: number) {
      if (coming > (layers.at(-1)?.room ?? 0)) addLayer(coming)
    },
    /** Adds the hashes of a pack from a position on. False, and nothing added, when the pack contradicts those before it. */
    take({ count, hashes, salt: itsSalt }: WatchPack, from: number) {
      if (count < from || hashes.length !== count * HASH_BYTES) return false
      if (salt !== null && !isSame(salt, itsSalt)) return false
      salt ??= Uint8Array.from(itsSalt)
      hasher ??= createWatchHasher(salt)
      const view = new DataView(hashes.buffer, hashes.byteOffset, hashes.byteLength)
      let layer = layerWithRoom()
      for (let at = from * HASH_BYTES; at < hashes.length; at += HASH_BYTES) {
        if (layer.room === 0) layer = layerWithRoom()
        layer.add(view.getUint32(at, true), view.getUint32(at + 4, true))
      }
      size += count - from
      return true
    },
  }
}

const isSame = (one: Uint8Array, other: Uint8Array): boolean =>
  one.length === other.length && one.every((byte, at) => byte === other[at])

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

/** Keys of one page: so many that the command costs little beside them. */
const HOT_PAGE = 10_000

interface Reader {
  readonly onKey: (matchKey: string) => void
  /** Where its first page began; undefined before that. */
  from?: string | null
  /** Whether it got the last page, so that those before its first one are left. */
  isPastEnd: boolean
  readonly end: (error?: unknown) => void
}

/**
 * One reading serves all callers: one that arrives during it gets the pages from there to the end and then those before: every page
 * that it gets was read after its call. An error of the store ends the call of everyone who waits.
 */
export function createHotReads(
  wallets: Pick<WalletRepository, 'hotWatchKeys'>,
  mode: Mode,
  family: Family,
  size: number = HOT_PAGE,
) {
  const readers = new Set<Reader>()
  let isReading = false

  async function read(): Promise<void> {
    isReading = true
    let after: string | null = null
    try {
      while (readers.size > 0) {
        // One that arrives while the page is read may have seen a row stored that the page lacks: its first page is the next.
        const present = [...readers]
        const keys: readonly string[] = await wallets.hotWatchKeys(mode, family, after, size)
        const last: string | null = keys.length < size ? null : (keys.at(-1) ?? null)
        for (const reader of present) pass(reader, after, keys, last)
        after = last
      }
    } catch (error) {
      for (const reader of readers) reader.end(error)
      readers.clear()
    } finally {
      isReading = false
    }
  }

  /** `last`: the key after which the next page begins, null at the end. */
  function pass(reader: Reader, after: string | null, keys: readonly string[], last: string | null): void {
    if (reader.from === undefined) reader.from = after
    for (const key of keys) reader.onKey(key)
    const { from } = reader
    const isDone = reader.isPastEnd ? from !== null && (last === null || last >= from) : last === null && from === null
    if (last === null) reader.isPastEnd = true
    if (!isDone) return
    readers.delete(reader)
    reader.end()
  }

  return {
    /** Passes every address that is in no pack. One that is stored, or packed, during the call may be passed or not; some are passed twice. */
    everyHot: (onKey: (matchKey: string) => void): Promise<void> =>
      new Promise<void>((resolve, reject) => {
        const end = (error?: unknown): void => (error === undefined ? resolve() : reject(error))
        readers.add({ onKey, isPastEnd: false, end })
        if (!isReading) void read()
      }),
  }
}
