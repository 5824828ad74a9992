import { within } from '#shared/contracts/within.ts'
import type { Metrics } from '#shared/ports/runtime.ts'
import type { RedisConnections } from './connection.ts'
import { fullFrom, makeRoom } from './local-buckets.ts'

/** Limit of one kind of costly action: how many at once, and how long until one more is allowed. */
export interface BucketRule {
  readonly name: string
  readonly capacity: number
  readonly intervalMs: number
}

/** Counts actions by their actor, over all processes. */
export interface TokenBuckets {
  /** Takes a token. If there is none, `retryAfter` is the number of whole seconds until the next one, at least 1. Never throws. */
  take(rule: BucketRule, who: string): Promise<{ readonly allowed: boolean; readonly retryAfter: number }>
}

/** The bucket is stored as the time at which it is full again (GCRA), by Redis's own clock. */
const TAKE_SCRIPT = `
local t = redis.call('TIME')
local now = t[1] * 1000 + math.floor(t[2] / 1000)
local full = tonumber(redis.call('GET', KEYS[1])) or 0
local interval = tonumber(ARGV[1])
local empty = interval * tonumber(ARGV[2])
if full < now or full > now + empty then full = now end
local over = full + interval - now - empty
if over > 0 then return over end
full = full + interval
redis.call('SET', KEYS[1], string.format('%.0f', full), 'PX', full - now)
return 0`

/** Time without a response of Redis after which this process counts locally. */
const SILENCE_MS = 100
/** Most buckets kept in the process; see {@link makeRoom}. */
const LOCAL_MAX = 20_000

interface TokenBucketsDeps {
  readonly redis: Pick<RedisConnections, 'producer' | 'prefix' | 'isHealthy'>
  readonly metrics: Metrics
  /** Unix milliseconds. */
  readonly now?: () => number
}

/** Buckets on Redis; without it each process counts locally, so that a limit always applies. */
export function createTokenBuckets({ redis, metrics, now = Date.now }: TokenBucketsDeps): TokenBuckets {
  const local = createLocalCounts(now)
  return {
    async take(rule, who) {
      const key = `${redis.prefix}:bucket:${rule.name}:${who}`
      const shared = redis.isHealthy() ? await queryRedis(redis, rule, key) : null
      if (shared === null) metrics.count('rate_limit_local_total')
      return outcome(shared ?? local.take(rule, key))
    },
  }
}

/** Buckets of a process that receives every request itself, so that its own counts are all; `now` gives milliseconds. */
export function createMemoryTokenBuckets(now: () => number = () => performance.now()): TokenBuckets {
  const local = createLocalCounts(now)
  return { take: (rule, who) => Promise.resolve(outcome(local.take(rule, `${rule.name}:${who}`))) }
}

/** `overMs` is the time until a token is available; 0 or less = one was taken. */
function outcome(overMs: number) {
  return { allowed: overMs <= 0, retryAfter: Math.max(1, Math.ceil(overMs / 1_000)) }
}

function createLocalCounts(now: () => number) {
  const fullAt = new Map<string, number>()
  return {
    /** Milliseconds until a token is available, 0 when one was taken. */
    take({ capacity, intervalMs }: BucketRule, key: string): number {
      const at = now()
      const full = fullFrom(fullAt.get(key), at, intervalMs * capacity)
      const over = full + intervalMs - at - intervalMs * capacity
      if (over > 0) return over
      makeRoom(fullAt, LOCAL_MAX, at)
      fullAt.set(key, full + intervalMs)
      return 0
    },
  }
}

/** Milliseconds until a token is available, 0 when it was taken; null when Redis does not respond in time. */
async function queryRedis(
  { producer }: Pick<RedisConnections, 'producer'>,
  { capacity, intervalMs }: BucketRule,
  key: string,
): Promise<number | null> {
  const answer = producer.eval(TAKE_SCRIPT, 1, key, intervalMs, capacity).then(Number, () => null)
  return await within(answer, SILENCE_MS)
}
