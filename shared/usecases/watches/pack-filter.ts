import { HASH_BYTES, PACK_HASHES, type WatchPack } from '#shared/ports/watch-packs.ts'
import { type BloomFilter, createBloomFilter } from './bloom-filter.ts'
import { createWatchHasher, type WatchHasher } from './watch-hash.ts'

/** Share of the present size for which a layer has room beyond what was announced. */
const ROOM_SHARE = 0.1

/** The hashes of packs in memory: a filter that grows in layers, because a Bloom filter cannot be enlarged. */
export interface PackFilter {
  has(matchKey: string): boolean
  /** Hashes that were added, some of them twice. */
  readonly size: number
  /** Makes room for so many hashes, so that they are in one layer. */
  expect(coming: number): void
  /** Adds the hashes of a pack from a position on. False, and nothing added, when the pack contradicts those before it. */
  take(pack: WatchPack, from: number): boolean
}

export function createPackFilter(): PackFilter {
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
    has(matchKey) {
      if (hasher === null) return false
      hasher.hash(matchKey)
      for (const layer of layers) if (layer.has(hasher.low, hasher.high)) return true
      return false
    },
    get size() {
      return size
    },
    expect(coming) {
      if (coming > (layers.at(-1)?.room ?? 0)) addLayer(coming)
    },
    take({ count, hashes, salt: itsSalt }, from) {
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
