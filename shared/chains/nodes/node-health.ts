import { RpcFailure } from './rpc-failure.ts'

/** Weight of the newest outcome in the moving average of failures. */
const WEIGHT = 0.2
const REST_MIN_MS = 100
const REST_MAX_MS = 30_000
/** Longest pause that a node's Retry-After is granted. */
const PAUSE_MAX_MS = 300_000
/** A node on another chain is asked again after this time, for somebody may have mended it. */
const EXCLUDED_MS = 60_000
/** A node that other nodes outvoted is left out for this time. */
const OUTVOTED_MS = 60_000
/** A node that failed this often in a row is down: nobody waits for its opinion. */
const DOWN_AFTER = 3
/** Assumed of a node that never answered, so that it is not preferred for that. */
const UNKNOWN_LATENCY_MS = 100

/** What is known about one node. Times are milliseconds. */
export interface NodeHealth {
  /** Height it claims; −1 when unknown. A failure takes the claim back. */
  head: number
  /** It failed a moment ago: others come first. */
  readonly isResting: boolean
  /** It asked not to be called for now. */
  readonly isPaused: boolean
  /** It was on another chain a moment ago, or it was outvoted. */
  readonly isExcluded: boolean
  /** Other nodes contradicted it a moment ago: its word counts for nothing. */
  readonly isOutvoted: boolean
  /** It failed several times, and nothing else since. */
  readonly isDown: boolean
  /** Lower is better: latency, weighed by how often it fails. */
  score(latencyMs: number): number
  worked(): void
  failed(error: unknown): void
  excluded(): void
  outvoted(): void
}

/** The health of a node nobody has asked yet. */
export function createNodeHealth(now: () => number): NodeHealth {
  let failures = 0
  let inRow = 0
  let restUntil = Number.NEGATIVE_INFINITY
  let pauseUntil = Number.NEGATIVE_INFINITY
  let excludedUntil = Number.NEGATIVE_INFINITY
  let outvotedUntil = Number.NEGATIVE_INFINITY
  const health: NodeHealth = {
    head: -1,
    get isResting() {
      return now() < restUntil
    },
    get isPaused() {
      return now() < pauseUntil
    },
    get isExcluded() {
      return now() < excludedUntil || now() < outvotedUntil
    },
    get isOutvoted() {
      return now() < outvotedUntil
    },
    get isDown() {
      return inRow >= DOWN_AFTER
    },
    score: (latencyMs) => (latencyMs || UNKNOWN_LATENCY_MS) * (1 + 9 * failures),
    worked() {
      failures *= 1 - WEIGHT
      inRow = 0
      restUntil = Number.NEGATIVE_INFINITY
      excludedUntil = Number.NEGATIVE_INFINITY
    },
    failed(error) {
      failures += (1 - failures) * WEIGHT
      health.head = -1
      // Calls that were under way together fail together: that is one failure.
      if (!health.isResting) {
        restUntil = now() + Math.min(REST_MIN_MS * 2 ** inRow, REST_MAX_MS)
        inRow += 1
      }
      const pause = error instanceof RpcFailure ? error.retryAfterMs : null
      if (pause !== null) pauseUntil = now() + Math.min(pause, PAUSE_MAX_MS)
    },
    excluded() {
      health.head = -1
      excludedUntil = now() + EXCLUDED_MS
    },
    outvoted() {
      health.head = -1
      outvotedUntil = now() + OUTVOTED_MS
    },
  }
  return health
}
