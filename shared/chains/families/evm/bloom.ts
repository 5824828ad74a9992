import { keccak_256 } from '@noble/hashes/sha3.js'
import type { Log } from './wire.ts'

const BLOOM_BYTES = 256

/** The three bits an entry sets in the 2,048-bit filter of a block (Yellow Paper, section 4.3.1), as byte and mask. */
function bitsOf(entry: string): readonly (readonly [number, number])[] {
  const digest = keccak_256(Buffer.from(entry.slice(2), 'hex'))
  return [0, 2, 4].map((at) => {
    const bit = (((digest[at] ?? 0) << 8) | (digest[at + 1] ?? 0)) & 2047
    return [BLOOM_BYTES - 1 - (bit >> 3), 1 << (bit & 7)] as const
  })
}

/** Tests whether a block's `logsBloom` may contain an entry (address or topic); false is certain. Entries are cached. */
export function createBloomTest(): (bloom: Buffer, entry: string) => boolean {
  const known = new Map<string, ReturnType<typeof bitsOf>>()
  return (bloom, entry) => {
    let bits = known.get(entry)
    if (bits === undefined) {
      bits = bitsOf(entry)
      known.set(entry, bits)
    }
    return bits.every(([at, mask]) => ((bloom[at] ?? 0) & mask) !== 0)
  }
}

/** True when the logs set every bit of the filter: then no log that the header announces can be missing unnoticed. */
export function coversBloom(bloom: Buffer, logs: readonly Log[]): boolean {
  const made = createBloom()
  made.add(logs)
  return made.covers(bloom)
}

/** A filter to which logs are added piece by piece, so that they need not be held together. */
export function createBloom(): { add(logs: readonly Log[]): void; covers(bloom: Buffer): boolean } {
  const made = Buffer.alloc(BLOOM_BYTES)
  return {
    add(logs) {
      for (const entry of new Set(logs.flatMap((log) => [log.address.toLowerCase(), ...log.topics]))) {
        for (const [at, mask] of bitsOf(entry)) made[at] = (made[at] ?? 0) | mask
      }
    },
    covers: (bloom) => bloom.every((byte, at) => (byte & ~(made[at] ?? 0)) === 0),
  }
}
