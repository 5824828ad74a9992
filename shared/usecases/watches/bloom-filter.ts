const BITS_PER_KEY = 16
/** All bits of a key are in one cache line. */
const BLOCK_WORDS = 16
const TWO_TO_32 = 4_294_967_296

/** A set of 64-bit hashes that is never wrong about one that was added, and about one in a thousand others. */
export interface BloomFilter {
  add(low: number, high: number): void
  has(low: number, high: number): boolean
  /** Additions that it still takes at this share of errors. */
  readonly room: number
}

/** An empty filter for `capacity` keys: two bytes each, outside the heap. Eight bits of a key are set in one block of 512 (Putze, Sanders, Singler: "Cache-, hash- and space-efficient Bloom filters"). */
export function createBloomFilter(capacity: number): BloomFilter {
  const blocks = Math.max(1, Math.ceil((capacity * BITS_PER_KEY) / (BLOCK_WORDS * 32)))
  const words = new Uint32Array(blocks * BLOCK_WORDS)
  let room = capacity

  const blockOf = (low: number): number => Math.floor(((low >>> 0) / TWO_TO_32) * blocks) * BLOCK_WORDS
  const set = (at: number, bit: number): void => {
    const word = at + ((bit >>> 5) & 15)
    words[word] = (words[word] ?? 0) | (1 << (bit & 31))
  }
  const isSet = (at: number, bit: number): boolean => (((words[at + ((bit >>> 5) & 15)] ?? 0) >>> (bit & 31)) & 1) === 1

  return {
    add(low, high) {
      const at = blockOf(low)
      const more = scramble(high ^ low)
      const most = scramble(more + 0x9e3779b9)
      set(at, high)
      set(at, high >>> 9)
      set(at, high >>> 18)
      set(at, more)
      set(at, more >>> 9)
      set(at, more >>> 18)
      set(at, most)
      set(at, most >>> 9)
      room -= 1
    },
    has(low, high) {
      const at = blockOf(low)
      if (!(isSet(at, high) && isSet(at, high >>> 9) && isSet(at, high >>> 18))) return false
      const more = scramble(high ^ low)
      if (!(isSet(at, more) && isSet(at, more >>> 9) && isSet(at, more >>> 18))) return false
      const most = scramble(more + 0x9e3779b9)
      return isSet(at, most) && isSet(at, most >>> 9)
    },
    get room() {
      return room
    },
  }
}

/** MurmurHash3's finaliser. */
function scramble(value: number): number {
  let mixed = Math.imul(value ^ (value >>> 16), 0x85ebca6b)
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35)
  return mixed ^ (mixed >>> 16)
}
