import { WEBHOOK_RETRY_DELAYS_MS } from '#shared/domain/webhook/schedule.ts'
import { LEASE_MS, SEND_WITHIN_MS } from '#shared/usecases/deliveries/claim.ts'

/** A stored attempt; `at` is its sender's estimate of the store's clock, in Unix milliseconds. */
export interface StoredAttempt {
  readonly deliveryId: string
  readonly number: number
  readonly at: Date
  readonly durationMs: number
  /** Null when no response came. */
  readonly statusCode: number | null
  /** False when the lease of its claim was lost before its outcome was written: it is in `webhook_attempts`, not in its delivery. */
  readonly isCounted: boolean
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
 * Shortest time between two attempts of one number. A claim's requests begin within `SEND_WITHIN_MS`, and the next claim of the
 * row begins after the lease.
 */
const LOST_LEASE_MS = LEASE_MS - SEND_WITHIN_MS - TWO_CLOCKS_MS

/**
 * Sentences about retries that began before the pause after the previous attempt was over. If a receiver saw both
 * attempts, its own clock decides, to the fraction of a millisecond. If a faulty link swallowed one of them, or the answer to the
 * first, the stored times decide, minus the error of two clocks.
 *
 * The attempts that count have the numbers 1, 2, 3 …, each once. One whose lease was lost has a number of theirs or the next one, is no
 * earlier than any retry of that number, and began at least `LOST_LEASE_MS` before the attempt that replaced it.
 */
export function earlyRetries(attempts: readonly StoredAttempt[], seen: readonly SeenRequest[]): readonly string[] {
  const requests = byDelivery(seen)
  return [...byDelivery(attempts)].flatMap(([deliveryId, unsorted]) => {
    const own = [...unsorted].sort((a, b) => a.number - b.number || a.at.getTime() - b.at.getTime())
    const counted = own.filter(({ isCounted }) => isCounted)
    return own.flatMap((attempt, index) => {
      const what = `attempt ${attempt.number} of ${deliveryId}`
      const previous = own[index - 1]
      const place = counted.indexOf(attempt)
      const before = counted[(place === -1 ? attempt.number - 1 : place) - 1]
      if (attempt.number !== (before?.number ?? 0) + 1)
        return [`${what} follows attempt ${(before ?? previous)?.number ?? 0}`]
      const earlyMs = before === undefined ? 0 : earlyBy(before, attempt, requests.get(deliveryId) ?? [])
      if (earlyMs > 0) return [`${what} came ${earlyMs.toFixed(1)} ms early`]
      return previous?.number === attempt.number ? repeated(what, previous, attempt) : []
    })
  })
}

/** Sentences about an attempt that was made again although the lease of the first was not over, or although its outcome was recorded. */
function repeated(what: string, first: StoredAttempt, second: StoredAttempt): readonly string[] {
  if (first.isCounted) return [`${what} was made again after its outcome was recorded`]
  const apartMs = second.at.getTime() - first.at.getTime()
  return apartMs < LOST_LEASE_MS ? [`${what} was made again after ${apartMs} ms, within its lease`] : []
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
