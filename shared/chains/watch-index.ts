import type { WatchIndex } from '#shared/usecases/ports/scanning.ts'

/** Hex digits of a 20-byte key and 32-bit words of one slot. */
const KEY_DIGITS = 40
const WORDS = 5
const INITIAL_SLOTS = 1024
/** Share of used slots above which the table doubles; keeps probes short. */
const LOAD_MAX = 0.6

/**
 * An exact set of receiving addresses. Twenty-byte keys (EVM, TRON) lie in one open-addressing table of 32-bit words:
 * 42 MB for a million, no object per entry, and a lookup costs the same however many there are. Keys of other lengths
 * (output scripts, Solana keys) are kept in an ordinary set. Keys are lower-case hex without `0x`.
 */
export function createWatchIndex(): WatchIndex {
  const table = createTable()
  const others = new Set<string>()
  const words = new Uint32Array(WORDS)
  return {
    has: (key) => (parseKey(key, words) ? table.has(words) : others.has(key)),
    add(key) {
      if (parseKey(key, words)) table.add(words)
      else others.add(key)
    },
    get size() {
      return table.size + others.size
    },
  }
}

function createTable() {
  let slots = INITIAL_SLOTS
  let cells = new Uint32Array(slots * WORDS)
  let used = 0
  // An all-zero slot means "free", so the zero key itself lives outside.
  let zero = false

  /** Offset of the key, or of the free slot where it belongs. */
  function locate(into: Uint32Array, mask: number, key: Uint32Array): number {
    for (let slot = hash(key) & mask; ; slot = (slot + 1) & mask) {
      const at = slot * WORDS
      if (isFree(into, at) || isKey(into, at, key)) return at
    }
  }

  function grow(): void {
    const next = new Uint32Array(slots * 2 * WORDS)
    for (let at = 0; at < cells.length; at += WORDS) {
      if (isFree(cells, at)) continue
      const key = cells.subarray(at, at + WORDS)
      next.set(key, locate(next, slots * 2 - 1, key))
    }
    slots *= 2
    cells = next
  }

  return {
    has: (key: Uint32Array) => (isFree(key, 0) ? zero : isKey(cells, locate(cells, slots - 1, key), key)),
    add(key: Uint32Array): void {
      if (isFree(key, 0)) {
        zero = true
        return
      }
      const at = locate(cells, slots - 1, key)
      if (isKey(cells, at, key)) return
      cells.set(key, at)
      used += 1
      if (used > slots * LOAD_MAX) grow()
    },
    get size() {
      return used + (zero ? 1 : 0)
    },
  }
}

function isFree(cells: Uint32Array, at: number): boolean {
  for (let word = 0; word < WORDS; word += 1) if (cells[at + word] !== 0) return false
  return true
}

function isKey(cells: Uint32Array, at: number, key: Uint32Array): boolean {
  for (let word = 0; word < WORDS; word += 1) if (cells[at + word] !== key[word]) return false
  return true
}

// Addresses are digests already, but anyone can search for some that share a few bits: mix all words (MurmurHash3 finaliser).
function hash(key: Uint32Array): number {
  let mixed = 0x9e3779b9
  for (const word of key) {
    mixed = Math.imul(mixed ^ word, 0x85ebca6b)
    mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35)
    mixed ^= mixed >>> 16
  }
  return mixed >>> 0
}

/** Fills `words` from 40 lower-case hex digits; false for a key of any other form. */
function parseKey(key: string, words: Uint32Array): boolean {
  if (key.length !== KEY_DIGITS) return false
  for (let word = 0; word < WORDS; word += 1) {
    let value = 0
    for (let digit = word * 8; digit < word * 8 + 8; digit += 1) {
      const nibble = nibbleOf(key.charCodeAt(digit))
      if (nibble < 0) return false
      value = (value << 4) | nibble
    }
    words[word] = value
  }
  return true
}

function nibbleOf(code: number): number {
  if (code >= 48 && code <= 57) return code - 48
  if (code >= 97 && code <= 102) return code - 87
  return -1
}
