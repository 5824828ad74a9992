import type { WatchIndex } from '#shared/ports/scanning.ts'

/** Hex digits of one 32-bit word. */
const WORD_DIGITS = 8
/** Longer keys than any of our addresses or output scripts, which have 34 bytes at most, do not get a table. */
const DIGITS_MAX = 80
const INITIAL_SLOTS = 1024
/** Share of used slots above which the table doubles; keeps probes short. */
const LOAD_MAX = 0.6

/**
 * An exact set of receiving addresses. Keys of one length are in one open-addressing table of 32-bit words outside the
 * heap: 42 MB for a million of 20 bytes (EVM, TRON), 67 MB of 32 bytes (Solana), no object per entry, and a lookup costs the
 * same however many there are. Other texts are kept in an ordinary set. Keys are lower-case hex without `0x`.
 */
export function createWatchIndex(): WatchIndex {
  const shelves = new Map<number, Shelf>()
  const others = new Set<string>()

  function shelfOf({ length }: string): Shelf {
    const known = shelves.get(length)
    if (known !== undefined) return known
    const words = new Uint32Array(Math.ceil(length / WORD_DIGITS))
    const made = { words, table: createTable(words.length) }
    shelves.set(length, made)
    return made
  }

  return {
    has(key) {
      const shelf = shelves.get(key.length)
      return shelf !== undefined && parseKey(key, shelf.words) ? shelf.table.has(shelf.words) : others.has(key)
    },
    add(key) {
      if (key.length === 0 || key.length > DIGITS_MAX) others.add(key)
      else {
        const { words, table } = shelfOf(key)
        if (parseKey(key, words)) table.add(words)
        else others.add(key)
      }
    },
    *keys() {
      for (const [length, { table }] of shelves) {
        for (const words of table.keys()) yield formatKey(words, length)
      }
      yield* others
    },
    get size() {
      return [...shelves.values()].reduce((sum, { table }) => sum + table.size, others.size)
    },
  }
}

/** The keys of one length, and a buffer for splitting one of them. */
interface Shelf {
  readonly words: Uint32Array
  readonly table: ReturnType<typeof createTable>
}

function createTable(width: number) {
  let slots = INITIAL_SLOTS
  let cells = new Uint32Array(slots * width)
  let used = 0
  // An all-zero slot means "free", so the zero key is stored separately.
  let zero = false

  /** Offset of the key, or of the free slot where it belongs. */
  function locate(into: Uint32Array, mask: number, key: Uint32Array): number {
    for (let slot = hash(key) & mask; ; slot = (slot + 1) & mask) {
      const at = slot * width
      if (isFree(into, at, width) || isKey(into, at, key)) return at
    }
  }

  function grow(): void {
    const next = new Uint32Array(slots * 2 * width)
    for (let at = 0; at < cells.length; at += width) {
      if (isFree(cells, at, width)) continue
      const key = cells.subarray(at, at + width)
      next.set(key, locate(next, slots * 2 - 1, key))
    }
    slots *= 2
    cells = next
  }

  return {
    has: (key: Uint32Array) => (isFree(key, 0, width) ? zero : isKey(cells, locate(cells, slots - 1, key), key)),
    add(key: Uint32Array): void {
      if (isFree(key, 0, width)) {
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
    *keys(): Iterable<Uint32Array> {
      if (zero) yield new Uint32Array(width)
      // A growing table leaves these cells unchanged.
      const held = cells
      for (let at = 0; at < held.length; at += width) {
        if (!isFree(held, at, width)) yield held.subarray(at, at + width)
      }
    },
  }
}

/** The key of `length` digits from the words that `parseKey` made. */
function formatKey(words: Uint32Array, length: number): string {
  let key = ''
  for (const word of words) {
    const digits = Math.min(WORD_DIGITS, length - key.length)
    key += word.toString(16).padStart(digits, '0')
  }
  return key
}

function isFree(cells: Uint32Array, at: number, width: number): boolean {
  for (let word = 0; word < width; word += 1) if (cells[at + word] !== 0) return false
  return true
}

function isKey(cells: Uint32Array, at: number, key: Uint32Array): boolean {
  for (let word = 0; word < key.length; word += 1) if (cells[at + word] !== key[word]) return false
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

/** Fills `words` from lower-case hex digits, the last one perhaps in part; false for a key of any other form. */
function parseKey(key: string, words: Uint32Array): boolean {
  for (let word = 0; word < words.length; word += 1) {
    const end = Math.min(key.length, (word + 1) * WORD_DIGITS)
    let value = 0
    for (let digit = word * WORD_DIGITS; digit < end; digit += 1) {
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
