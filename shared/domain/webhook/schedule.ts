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
 * How long to wait, in milliseconds, before the next request after attempt number `attempt` (1 for the first) failed. Null
 * after the ninth attempt: the delivery has failed permanently.
 */
export function retryDelayMs(attempt: number): Ms | null {
  return WEBHOOK_RETRY_DELAYS_MS[attempt - 1] ?? null
}
