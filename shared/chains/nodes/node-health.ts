import { RpcFailure } from './rpc-failure.ts'

/** Weight of the newest outcome in the moving average of failures. */
const WEIGHT = 0.2
const REST_MIN_MS = 100
const REST_MAX_MS = 30_000
/** Longest pause that is granted to a node's Retry-After, milliseconds. */
export const PAUSE_MAX_MS = 300_000
/** A node on another chain is checked again after this time, because it may have been repaired. */
const EXCLUDED_MS = 60_000
/** A node that other nodes outvoted is excluded for this time. */
const OUTVOTED_MS = 60_000
/** A node that failed this often in a row is down: no decision waits for it. */
const DOWN_AFTER = 3
/** Assumed for a node that never responded, so that it is not preferred. */
const UNKNOWN_LATENCY_MS = 100

/** State of one node. Times are milliseconds. */
export interface NodeHealth {
  /** Height it reports; −1 when unknown. A failure resets it. */
  head: number
  /** Height at which its newest block stands still while another node goes on; null while it follows. */
  standsAt: number | null
  /** Its newest or its final block stands still, so that it has no vote. */
  isOutdated: boolean
  /** Height of a settled block at which it has another one than the node in use, and neither side is the majority; null while it has none. */
  differsAt: number | null
  /** It failed a moment ago: others are tried first. */
  readonly isResting: boolean
  /** It requested a pause. */
  readonly isPaused: boolean
  /** The failure with which it did that last; null when it never did. */
  readonly pausedBy: RpcFailure | null
  /** It was recently on another chain, or outvoted. */
  readonly isExcluded: boolean
  /** Other nodes recently contradicted it: its results do not count. */
  readonly isOutvoted: boolean
  /** It failed, without a success since. */
  readonly isFailing: boolean
  /** The same several times. */
  readonly isDown: boolean
  /** Lower is better: latency, weighted by how often it fails. */
  score(latencyMs: number): number
  worked(): void
  failed(error: unknown): void
  excluded(): void
  outvoted(): void
}

/** The health of a node before its first call. */
export function createNodeHealth(now: () => number): NodeHealth {
  let failures = 0
  let inRow = 0
  let restUntil = Number.NEGATIVE_INFINITY
  let pauseUntil = Number.NEGATIVE_INFINITY
  let pausedBy: RpcFailure | null = null
  let excludedUntil = Number.NEGATIVE_INFINITY
  let outvotedUntil = Number.NEGATIVE_INFINITY
  const health: NodeHealth = {
    head: -1,
    standsAt: null,
    isOutdated: false,
    differsAt: null,
    get isResting() {
      return now() < restUntil
    },
    get isPaused() {
      return now() < pauseUntil
    },
    get pausedBy() {
      return pausedBy
    },
    get isExcluded() {
      return now() < excludedUntil || now() < outvotedUntil
    },
    get isOutvoted() {
      return now() < outvotedUntil
    },
    get isFailing() {
      return inRow > 0
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
      // Concurrent calls fail together: that counts as one failure.
      if (!health.isResting) {
        restUntil = now() + Math.min(REST_MIN_MS * 2 ** inRow, REST_MAX_MS)
        inRow += 1
      }
      if (!(error instanceof RpcFailure) || error.retryAfterMs === null) return
      pauseUntil = now() + Math.min(error.retryAfterMs, PAUSE_MAX_MS)
      pausedBy = error
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
