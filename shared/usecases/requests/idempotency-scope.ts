import { createHash } from 'node:crypto'
import { PaymeshError } from '#shared/contracts/errors.ts'
import { invalid } from '#shared/contracts/http/validate.ts'
import type { Mode } from '#shared/domain/enumerations.ts'
import type { Ms } from '#shared/domain/invoice/model.ts'

/** How long a key repeats the first response (specification §4). */
export const IDEMPOTENCY_WINDOW_MS: Ms = 86_400_000

const IDEMPOTENCY_KEY = /^[ -~]{1,255}$/
/** Valid form of an `Idempotency-Key`: 1 to 255 printable ASCII characters. The API document states the same pattern. */
export const IDEMPOTENCY_KEY_PATTERN = IDEMPOTENCY_KEY.source

/** Identifies one use of an idempotency key: the same text in another workspace, mode, method or path is another operation. */
export function idempotencyScope(scope: {
  readonly workspaceId: string
  readonly mode: Mode
  readonly method: string
  readonly path: string
  readonly key: string
}): string {
  return `${scope.workspaceId}:${scope.mode}:${scope.method}:${scope.path}:${scope.key}`
}

/** True for text that an `Idempotency-Key` header may carry. */
export function isIdempotencyKey(text: string): boolean {
  return IDEMPOTENCY_KEY.test(text)
}

/** The header's value, or null without the header. Throws `VALIDATION_ERROR` for an invalid key. */
export function readIdempotencyKey(header: string | undefined): string | null {
  if (header === undefined) return null
  if (isIdempotencyKey(header)) return header
  throw invalid([{ path: 'Idempotency-Key', message: 'must be 1 to 255 printable ASCII characters' }])
}

/** SHA-256 of the raw request body, hex; two bodies are the same when it is equal. */
export function bodyFingerprint(body: Uint8Array): string {
  return createHash('sha256').update(body).digest('hex')
}

/**
 * True for errors that belong to an operation's outcome and are repeated to a retry: business refusals reached after
 * execution began. Validation, 401, 403, 429 and 5xx are checked again each time.
 */
export function isReplayable(error: unknown): error is PaymeshError {
  if (!(error instanceof PaymeshError) || error.code === 'VALIDATION_ERROR') return false
  if (error.code.startsWith('IDEMPOTENCY_')) return false
  return error.status === 400 || error.status === 404 || error.status === 409
}
