import { PaymeshApiError, PaymeshConnectionError } from './api-error.ts'

/** Longest first pause; each further one may be twice as long, up to the cap. */
const BACKOFF_FIRST_MS = 250
const BACKOFF_CAP_MS = 8_000
/** Requested waits longer than this, together with those of the call before, are returned as an error instead: a page of a shop waits for it. */
const RETRY_AFTER_MAX_MS = 60_000

/**
 * Milliseconds to wait before the next attempt after `attempt` (0 = the first) failed with `error`; null when the
 * caller must get the error: a refusal that would only be repeated, or a requested wait with which the call would have waited, `waitedMs` before, more than 60 s.
 * The upper half of the wait is random, so that callers that failed together do not retry together.
 */
export function retryDelayMs(
  error: unknown,
  { attempt, waitedMs }: { readonly attempt: number; readonly waitedMs: number },
  random: () => number,
): number | null {
  if (!(error instanceof PaymeshApiError || error instanceof PaymeshConnectionError) || !error.retryable) return null
  if (error.retryAfterMs !== null) {
    return waitedMs + error.retryAfterMs > RETRY_AFTER_MAX_MS ? null : error.retryAfterMs + random() * BACKOFF_FIRST_MS
  }
  const ceilingMs = Math.min(BACKOFF_CAP_MS, BACKOFF_FIRST_MS * 2 ** attempt)
  return ceilingMs / 2 + (random() * ceilingMs) / 2
}

/** The one form of dates that senders may use (RFC 9110 §5.6.7); `Date.parse` alone reads `-5` as a year. */
const HTTP_DATE = /^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/

/** `Retry-After` (RFC 9110 §10.2.3: whole seconds or an HTTP date) as milliseconds from `nowMs`; null when absent or unreadable. */
export function readRetryAfterMs(header: string | null, nowMs: number): number | null {
  if (header === null) return null
  if (/^[0-9]+$/.test(header)) return Number(header) * 1_000
  if (!HTTP_DATE.test(header)) return null
  const at = Date.parse(header)
  return Number.isNaN(at) ? null : Math.max(0, at - nowMs)
}
