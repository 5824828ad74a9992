import { type Admission, RATE_BURST, TOKEN_INTERVAL_MS } from '#shared/ports/rate-limit.ts'

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
      const full = fullFrom(fullAt.get(bucket), at, RATE_BURST * TOKEN_INTERVAL_MS)
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
      if (at + untilFull <= fullFrom(fullAt.get(bucket), at, RATE_BURST * TOKEN_INTERVAL_MS)) return
      makeRoom(fullAt, BUCKETS_MAX, at)
      fullAt.set(bucket, at + untilFull)
    },
    peek(bucket: string): Pick<Admission, 'remaining' | 'resetAt'> {
      const at = now()
      const full = fullFrom(fullAt.get(bucket), at, RATE_BURST * TOKEN_INTERVAL_MS)
      return {
        remaining: Math.floor(RATE_BURST - (full - at) / TOKEN_INTERVAL_MS),
        resetAt: Math.ceil(full / 1000),
      }
    },
  }
}

/**
 * When a bucket is full again: at once where that time has come, and where it is further away than for an empty bucket. Then the clock was set back, and
 * nobody is refused for as long as it was wrong. The scripts on Redis do the same: the next primary's clock may be behind.
 */
export function fullFrom(stored: number | undefined, at: number, emptyMs: number): number {
  return stored === undefined || stored < at || stored > at + emptyMs ? at : stored
}

/** Of a full map this share is evicted at once, so that a flood sorts the map seldom. */
const EVICTED_SHARE = 0.1

/**
 * Bounds a map of buckets, each stored as the time at which it is full again. Once `max` are held, full ones are removed, which changes
 * nothing; if all are in use, the tenth nearest to full. They lose least: a flood from new sources, which have used one token each, evicts
 * other new sources and never a bucket that somebody drained.
 */
export function makeRoom(fullAt: Map<string, number>, max: number, at: number): void {
  if (fullAt.size < max) return
  for (const [key, time] of fullAt) if (time <= at) fullAt.delete(key)
  if (fullAt.size < max) return
  const nearest = [...fullAt].sort(([, a], [, b]) => a - b).slice(0, Math.ceil(max * EVICTED_SHARE))
  for (const [key] of nearest) fullAt.delete(key)
}

/** Header values for a bucket that is full in `untilFull` milliseconds; `at` is now, in Unix milliseconds. */
export function standing(untilFull: number, at: number): Pick<Admission, 'remaining' | 'resetAt' | 'retryAfter'> {
  const tokens = RATE_BURST - untilFull / TOKEN_INTERVAL_MS
  return {
    remaining: Math.max(0, Math.floor(tokens)),
    resetAt: Math.ceil((at + untilFull) / 1000),
    retryAfter: Math.max(1, Math.ceil(((1 - tokens) * TOKEN_INTERVAL_MS) / 1000)),
  }
}
