import type { Ms } from '#shared/domain/invoice/model.ts'
import { SCARCE } from '#shared/domain/scarce.ts'

/** One request to the rate limiter. */
export interface AdmissionRequest {
  /** `key:<id>` for a valid key, `ip:<address>` otherwise. */
  readonly bucket: string
  readonly keyId: string | null
  readonly workspaceId: string | null
  /** Epochs that were read from the store for this very request; they are published if Redis has none or older ones. */
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
  /** Whole seconds until a token is available, at least 1; only meaningful when not allowed. */
  readonly retryAfter: number
  /** Null when Redis has none or did not respond: then the record must be read from the store. */
  readonly keyEpoch: number | null
  readonly workspaceEpoch: number | null
  /**
   * `busy`: another request with this idempotency scope is still running. `unknown`: Redis was asked and did not respond in
   * time; it may set the mark later, so the request clears it as if it were `set`.
   */
  readonly marker: 'none' | 'set' | 'busy' | 'unknown'
}

/**
 * Token bucket (capacity 60, two tokens a second) shared by every API process, combined with the other Redis reads of a request.
 * Resolves within about 50 ms whatever Redis does: without it an in-process bucket counts. Never throws.
 */
export interface RateLimiter {
  admit(request: AdmissionRequest): Promise<Admission>
  /**
   * Clears a marker if this owner holds it when Redis reads the command, after the admissions sent before. Best effort. Until then the
   * limiter renews it; the marker of a dead process ends after 5 s.
   */
  clearMarker(marker: { readonly id: string; readonly owner: string }): void
  /** The local state of a bucket without taking a token, for responses that never reach `admit`. */
  peek(bucket: string): Pick<Admission, 'remaining' | 'resetAt'>
}

/** Requests per minute that the bucket sustains; the value of `X-RateLimit-Limit` (specification §8). */
export const RATE_LIMIT_PER_MINUTE = SCARCE.apiRequests.budget.perMinute
/** Requests that a full bucket allows at once (specification §8). */
export const RATE_BURST = SCARCE.apiRequests.budget.burst
/** Time until one token is restored. */
export const TOKEN_INTERVAL_MS: Ms = 60_000 / RATE_LIMIT_PER_MINUTE
