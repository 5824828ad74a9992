import { SALT_BYTES } from '#shared/ports/watch-packs.ts'

/** Hashes match keys under a secret of the installation. */
export interface WatchHasher {
  /** Stores the 64-bit hash of a match key in `low` and `high`, until the next call. */
  hash(matchKey: string): void
  readonly low: number
  readonly high: number
}

/**
 * HalfSipHash-2-4 with 64 bits (Aumasson and Bernstein, github.com/veorq/SipHash). Keyed, so that a stranger who knows our addresses cannot search for
 * others that collide in the filter. `salt` has `SALT_BYTES`; of each character the lower 8 bits count, which match keys never exceed.
 */
export function createWatchHasher(salt: Uint8Array): WatchHasher {
  if (salt.length !== SALT_BYTES) throw new RangeError(`a salt has ${SALT_BYTES} bytes, not ${salt.length}`)
  const view = new DataView(salt.buffer, salt.byteOffset, salt.byteLength)
  const [k0, k1] = [view.getUint32(0, true), view.getUint32(4, true)]
  let v0 = 0
  let v1 = 0
  let v2 = 0
  let v3 = 0

  function round(): void {
    v0 = (v0 + v1) | 0
    v1 = (v1 << 5) | (v1 >>> 27)
    v1 ^= v0
    v0 = (v0 << 16) | (v0 >>> 16)
    v2 = (v2 + v3) | 0
    v3 = (v3 << 8) | (v3 >>> 24)
    v3 ^= v2
    v0 = (v0 + v3) | 0
    v3 = (v3 << 7) | (v3 >>> 25)
    v3 ^= v0
    v2 = (v2 + v1) | 0
    v1 = (v1 << 13) | (v1 >>> 19)
    v1 ^= v2
    v2 = (v2 << 16) | (v2 >>> 16)
  }

  function mix(word: number): void {
    v3 ^= word
    round()
    round()
    v0 ^= word
  }

  function finish(): number {
    for (let done = 0; done < 4; done += 1) round()
    return (v1 ^ v3) >>> 0
  }

  const hasher = {
    low: 0,
    high: 0,
    hash(matchKey: string): void {
      v0 = k0
      v1 = k1 ^ 0xee
      v2 = 0x6c796765 ^ k0
      v3 = 0x74656462 ^ k1
      const { length } = matchKey
      let at = 0
      for (; at + 4 <= length; at += 4) {
        mix(
          (matchKey.charCodeAt(at) & 0xff) |
            ((matchKey.charCodeAt(at + 1) & 0xff) << 8) |
            ((matchKey.charCodeAt(at + 2) & 0xff) << 16) |
            ((matchKey.charCodeAt(at + 3) & 0xff) << 24),
        )
      }
      let last = length << 24
      for (let shift = 0; at < length; at += 1, shift += 8) last |= (matchKey.charCodeAt(at) & 0xff) << shift
      mix(last)
      v2 ^= 0xee
      hasher.low = finish()
      v1 ^= 0xdd
      hasher.high = finish()
    },
  }
  return hasher
}
