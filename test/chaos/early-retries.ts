import { WEBHOOK_RETRY_DELAYS_MS } from '#shared/domain/webhook/schedule.ts'

/** A stored attempt; `at` is its sender's estimate of the store's clock, in Unix milliseconds. */
export interface StoredAttempt {
  readonly deliveryId: string
  readonly number: number
  readonly at: Date
  readonly durationMs: number
  /** Null when no response came. */
  readonly statusCode: number | null
}

/** A request as received: `at` in Unix milliseconds, the others in milliseconds of one monotonic clock for all receivers. */
export interface SeenRequest {
  readonly deliveryId: string
  readonly at: number
  /** When its head had arrived. */
  readonly startedAtMs: number
  /** Just before it was answered or disconnected. Its sender cannot have noticed that earlier, unless the link broke first. */
  readonly answeredAtMs: number
  /** Of its answer; null when it was disconnected without one. */
  readonly status: number | null
}

/**
 * Maximum difference between two processes' times of one moment: each estimates the store's clock from a response that took up to 100 ms,
 * so it is off by up to 50 ms (`shared/db/connection/clock.ts`).
 */
const TWO_CLOCKS_MS = 100

/**
 * Sentences about retries that began before the pause after the previous attempt was over. If a receiver saw both
 * attempts, its own clock decides, to the fraction of a millisecond. If a faulty link swallowed one of them, or the answer to the
 * first, the stored times decide, minus the error of two clocks.
 */
export function earlyRetries(attempts: readonly StoredAttempt[], seen: readonly SeenRequest[]): readonly string[] {
  const requests = byDelivery(seen)
  return [...byDelivery(attempts)].flatMap(([deliveryId, unsorted]) => {
    const own = [...unsorted].sort((a, b) => a.number - b.number)
    return own.slice(1).flatMap((attempt, index) => {
      const before = own[index] ?? attempt
      const what = `attempt ${attempt.number} of ${deliveryId}`
      if (attempt.number !== before.number + 1) return [`${what} follows attempt ${before.number}`]
      const earlyMs = earlyBy(before, attempt, requests.get(deliveryId) ?? [])
      return earlyMs > 0 ? [`${what} came ${earlyMs.toFixed(1)} ms early`] : []
    })
  })
}

function earlyBy(before: StoredAttempt, attempt: StoredAttempt, seen: readonly SeenRequest[]): number {
  const pauseMs = WEBHOOK_RETRY_DELAYS_MS[before.number - 1] ?? Number.POSITIVE_INFINITY
  const [one, other] = [requestsOf(before, seen), requestsOf(attempt, seen)]
  const [first, second] = [one[0], other[0]]
  // Attempts in quick succession may share their requests; then they cannot be distinguished.
  const areSeen =
    one.length === 1 && other.length === 1 && first !== undefined && second !== undefined && first !== second
  if (areSeen && first.status === before.statusCode) return first.answeredAtMs + pauseMs - second.startedAtMs
  return before.at.getTime() + before.durationMs + pauseMs - TWO_CLOCKS_MS - attempt.at.getTime()
}

/** The requests that arrived during the attempt. */
function requestsOf({ at, durationMs }: StoredAttempt, seen: readonly SeenRequest[]): readonly SeenRequest[] {
  const from = at.getTime() - TWO_CLOCKS_MS
  const until = at.getTime() + durationMs + TWO_CLOCKS_MS
  return seen.filter((request) => request.at >= from && request.at <= until)
}

function byDelivery<T extends { readonly deliveryId: string }>(rows: readonly T[]): ReadonlyMap<string, readonly T[]> {
  const groups = new Map<string, T[]>()
  for (const row of rows) {
    const group = groups.get(row.deliveryId)
    if (group === undefined) groups.set(row.deliveryId, [row])
    else group.push(row)
  }
  return groups
}
