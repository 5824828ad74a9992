import type { Ms } from '../invoice/model.ts'

/** Pauses before the eight retries of a delivery, in order; the interface specification fixes them (§6, delivery rules). */
export const WEBHOOK_RETRY_DELAYS_MS: readonly Ms[] = [
  0,
  60_000,
  5 * 60_000,
  30 * 60_000,
  2 * 3_600_000,
  6 * 3_600_000,
  12 * 3_600_000,
  24 * 3_600_000,
]

/**
 * When to send again after the attempt number `attempt` (1 for the first) failed at `now`;
 * null after the ninth attempt, when the delivery has failed for good. Never earlier than `now`.
 */
export function nextAttemptAt(attempt: number, now: Ms): Ms | null {
  const delay = WEBHOOK_RETRY_DELAYS_MS[attempt - 1]
  return delay === undefined ? null : now + delay
}
