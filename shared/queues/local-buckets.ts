import type { Admission } from '#shared/ports/rate-limit.ts'
import { RATE_BURST, TOKEN_INTERVAL_MS } from '#shared/ports/rate-limit.ts'
import { makeRoom } from './make-room.ts'

/** Most buckets kept; see {@link makeRoom}. */
const BUCKETS_MAX = 50_000

/** Token buckets of this process, for times without Redis. */
export type LocalBuckets = ReturnType<typeof createLocalBuckets>

/** Buckets in memory, bounded; `now` gives Unix milliseconds. */
export function createLocalBuckets(now: () => number) {
  const fullAt = new Map<string, number>()

  return {
    /** `untilFull` in milliseconds, after the token was taken if there was one. */
    take(bucket: string): { readonly allowed: boolean; readonly untilFull: number; readonly at: number } {
      const at = now()
      const full = Math.max(fullAt.get(bucket) ?? 0, at)
      if (full + TOKEN_INTERVAL_MS - at > RATE_BURST * TOKEN_INTERVAL_MS) {
        return { allowed: false, untilFull: full - at, at }
      }
      makeRoom(fullAt, BUCKETS_MAX, at)
      fullAt.set(bucket, full + TOKEN_INTERVAL_MS)
      return { allowed: true, untilFull: full + TOKEN_INTERVAL_MS - at, at }
    },

    /** Takes over the state of another counter of the bucket; it never makes the bucket fuller. `untilFull` in milliseconds. */
    learn(bucket: string, untilFull: number): void {
      const at = now()
      if (at + untilFull <= (fullAt.get(bucket) ?? at)) return
      makeRoom(fullAt, BUCKETS_MAX, at)
      fullAt.set(bucket, at + untilFull)
    },
    peek(bucket: string): Pick<Admission, 'remaining' | 'resetAt'> {
      const at = now()
      const full = Math.max(fullAt.get(bucket) ?? 0, at)
      return {
        remaining: Math.floor(RATE_BURST - (full - at) / TOKEN_INTERVAL_MS),
        resetAt: Math.ceil(full / 1000),
      }
    },
  }
}
