import type { Ms } from '#shared/domain/invoice/model.ts'

/** One request as the rate limiter sees it. */
export interface AdmissionRequest {
  /** `key:<id>` for a valid key, `ip:<address>` otherwise. */
  readonly bucket: string
  readonly keyId: string | null
  readonly workspaceId: string | null
  /** Epochs that were read from the store for this very request; they are published where Redis has none or older ones. */
  readonly publish: { readonly keyEpoch: number | null; readonly workspaceEpoch: number | null }
  /** Marks an idempotent operation as running; `owner` is the request's own id, so that only it clears the mark. */
  readonly marker: { readonly id: string; readonly owner: string } | null
}

export interface Admission {
  readonly allowed: boolean
  /** Whole tokens left. */
  readonly remaining: number
  /** Unix second at which the bucket is full again. */
  readonly resetAt: number
  /** Whole seconds until a token is there, at least 1; only meaningful when not allowed. */
  readonly retryAfter: number
  /** Null when Redis has none or did not answer: then the record must be read from the store. */
  readonly keyEpoch: number | null
  readonly workspaceEpoch: number | null
  /** `busy`: another request with this idempotency scope is still running. `unknown`: Redis did not answer. */
  readonly marker: 'none' | 'set' | 'busy' | 'unknown'
}

/**
 * Token bucket (capacity 60, two tokens a second) shared by every API process, with what else must be asked of Redis per request.
 * Answers within some 50 ms whatever Redis does: without it an in-process bucket counts. Never throws.
 */
export interface RateLimiter {
  admit(request: AdmissionRequest): Promise<Admission>
  /**
   * Clears a marker if this owner still holds it. Best effort. Until then the limiter renews it; the marker of a process that died
   * ends after 5 s.
   */
  clearMarker(marker: { readonly id: string; readonly owner: string }): void
  /** The local view of a bucket without taking a token, for answers that never reach `admit`. */
  peek(bucket: string): Pick<Admission, 'remaining' | 'resetAt'>
}

/** Requests per minute that the bucket sustains; the value of `X-RateLimit-Limit` (specification §8). */
export const RATE_LIMIT_PER_MINUTE = 120
/** Requests a full bucket lets through at once (specification §8). */
export const RATE_BURST = 60
/** Time one token takes to come back. */
export const TOKEN_INTERVAL_MS: Ms = 60_000 / RATE_LIMIT_PER_MINUTE
