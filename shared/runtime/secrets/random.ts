import { randomBytes } from 'node:crypto'
import type { Random } from '#shared/ports/runtime.ts'

/** Random bytes are drawn in blocks, because one call per id costs more than the id. */
const POOL_BYTES = 4_096

/**
 * The process's randomness. `uuid()` returns UUIDs version 7 (RFC 9562 §5.7) whose text order is their order of creation
 * within this process: within one millisecond `rand_a` counts up from a random start (§6.2, method 1), and a clock
 * that steps back keeps the last time. `now` is Unix milliseconds of the store's clock, so that ids of all processes are sorted by
 * the same time as `created_at`, whatever a machine's clock shows. `bytes` is cryptographically strong.
 */
export function createRandom(now: () => number): Random {
  let pool = Buffer.alloc(0)
  let used = 0
  let lastMs = 0
  let counter = 0

  function take(length: number): Buffer {
    if (used + length > pool.length) {
      pool = randomBytes(POOL_BYTES)
      used = 0
    }
    used += length
    return pool.subarray(used - length, used)
  }

  function tick(): void {
    const at = now()
    if (at > lastMs) {
      lastMs = at
      // The upper half stays unused, so that at least 2,048 ids fit into a millisecond before the time is advanced.
      counter = take(2).readUInt16BE(0) & 0x7ff
      return
    }
    counter += 1
    if (counter <= 0xfff) return
    lastMs += 1
    counter = 0
  }

  return {
    bytes: (length) => new Uint8Array(randomBytes(length)),
    uuid() {
      tick()
      const tail = take(8)
      const time = lastMs.toString(16).padStart(12, '0')
      const sequence = counter.toString(16).padStart(3, '0')
      const variant = (((tail[0] ?? 0) & 0x3f) | 0x80).toString(16)
      const rest = tail.toString('hex', 1)
      return `${time.slice(0, 8)}-${time.slice(8)}-7${sequence}-${variant}${rest.slice(0, 2)}-${rest.slice(2)}`
    },
  }
}
