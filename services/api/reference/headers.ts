import { RATE_BURST, RATE_LIMIT_PER_MINUTE } from '#shared/ports/rate-limit.ts'
import { IDEMPOTENCY_KEY_PATTERN } from '#shared/usecases/requests/idempotency-scope.ts'

/** Headers of responses, as components of the OpenAPI document. */
export const HEADERS = {
  'X-RateLimit-Limit': {
    description: 'Requests per minute and key.',
    schema: { type: 'integer', format: 'int32', const: RATE_LIMIT_PER_MINUTE, minimum: 1, maximum: 1_000_000 },
  },
  'X-RateLimit-Remaining': {
    description: 'Requests available right now.',
    schema: { type: 'integer', format: 'int32', minimum: 0, maximum: RATE_BURST },
  },
  'X-RateLimit-Reset': {
    description: 'Unix time in seconds at which the full burst is available again.',
    schema: { type: 'integer', format: 'int64', minimum: 0, maximum: Number.MAX_SAFE_INTEGER },
  },
  'Retry-After': {
    description: 'Whole seconds to wait, at least 1.',
    schema: { type: 'integer', format: 'int32', minimum: 1, maximum: 3_600 },
  },
  'Idempotent-Replayed': {
    description: 'Present when the response repeats an earlier one.',
    schema: { type: 'string', const: 'true' },
  },
  'WWW-Authenticate': {
    description: 'How to authenticate.',
    schema: { type: 'string', const: 'Bearer' },
  },
} as const

/** Parameters that operations share, as components of the OpenAPI document. */
export const PARAMETERS = {
  IdempotencyKey: {
    name: 'Idempotency-Key',
    in: 'header',
    required: false,
    description: 'Makes it safe to repeat the request: for 24 hours a repetition returns the first response.',
    schema: { type: 'string', minLength: 1, maxLength: 255, pattern: IDEMPOTENCY_KEY_PATTERN },
    example: 'order-7731-attempt-1',
  },
} as const

/** References to the headers that every response carries, and to `more`. */
export function headerRefs(...more: readonly (keyof typeof HEADERS)[]): Record<string, { $ref: string }> {
  const names = ['X-RateLimit-Limit', 'X-RateLimit-Remaining', 'X-RateLimit-Reset', ...more]
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]))
}
