/**
 * The only table of public errors (specification §7). `owner` is who can fix it; `retryable` whether the
 * very same request may succeed later. Messages are public; internal text stays in `PaymeshError.internal`.
 */
export const ERROR_TABLE = {
  VALIDATION_ERROR: { status: 400, retryable: false, owner: 'client', message: 'The request is invalid.' },
  UNSUPPORTED_ASSET: { status: 400, retryable: false, owner: 'client', message: 'This asset is not supported.' },
  NO_WALLET_FOR_ASSET: {
    status: 400,
    retryable: false,
    owner: 'merchant',
    message: 'This workspace cannot receive this asset right now.',
  },
  AMOUNT_BELOW_MINIMUM: {
    status: 400,
    retryable: false,
    owner: 'client',
    message: 'The amount is below the minimum for this asset.',
  },
  UNAUTHENTICATED: { status: 401, retryable: false, owner: 'client', message: 'The API key is missing or invalid.' },
  FORBIDDEN_SCOPE: { status: 403, retryable: false, owner: 'client', message: 'The API key lacks the required scope.' },
  WORKSPACE_SUSPENDED: { status: 403, retryable: false, owner: 'operator', message: 'The workspace is suspended.' },
  WORKSPACE_RESTRICTED: {
    status: 403,
    retryable: false,
    owner: 'operator',
    message: 'The workspace is restricted and cannot create this resource.',
  },
  PLAN_LIMIT_REACHED: { status: 403, retryable: false, owner: 'merchant', message: 'The plan limit has been reached.' },
  TEST_MODE_ONLY: { status: 403, retryable: false, owner: 'client', message: 'This operation requires a test key.' },
  NOT_FOUND: { status: 404, retryable: false, owner: 'client', message: 'Resource not found.' },
  INVALID_STATE: {
    status: 409,
    retryable: false,
    owner: 'client',
    message: 'The state of the resource does not allow this.',
  },
  IDEMPOTENCY_MISMATCH: {
    status: 409,
    retryable: false,
    owner: 'client',
    message: 'The idempotency key was already used with a different request.',
  },
  IDEMPOTENCY_IN_PROGRESS: {
    status: 409,
    retryable: true,
    owner: 'client',
    message: 'A request with this idempotency key is still running.',
  },
  RATE_LIMITED: { status: 429, retryable: true, owner: 'client', message: 'Too many requests.' },
  INTERNAL_ERROR: { status: 500, retryable: true, owner: 'operator', message: 'Something went wrong on our side.' },
  RATES_UNAVAILABLE: {
    status: 503,
    retryable: true,
    owner: 'operator',
    message: 'No current rate is available right now.',
  },
} as const satisfies Record<
  string,
  { status: number; retryable: boolean; owner: 'client' | 'merchant' | 'operator'; message: string }
>

export type ErrorCode = keyof typeof ERROR_TABLE

/** One invalid field: dotted path (`customer.email`, `events.2`) and the fault. */
export interface ErrorDetail {
  readonly path: string
  readonly message: string
}

/**
 * The only error that may deliberately cross a layer. `message` is public, `internal` and `cause` are for logs.
 * `status` overrides the table only for transport faults that reuse the nearest code (404, 405, 413, 415).
 */
export class PaymeshError extends Error {
  readonly code: ErrorCode
  readonly status: number
  readonly details: readonly ErrorDetail[] | undefined
  readonly internal: string | undefined

  constructor(
    code: ErrorCode,
    options: {
      message?: string
      details?: readonly ErrorDetail[]
      internal?: string
      cause?: unknown
      status?: number
    } = {},
  ) {
    super(options.message ?? ERROR_TABLE[code].message, { cause: options.cause })
    this.name = 'PaymeshError'
    this.code = code
    this.status = options.status ?? ERROR_TABLE[code].status
    this.details = options.details
    this.internal = options.internal
  }
}

/** `VALIDATION_ERROR` about one field. */
export const invalidField = (path: string, message: string): PaymeshError =>
  new PaymeshError('VALIDATION_ERROR', { details: [{ path, message }] })

/** `INVALID_STATE` with its text. */
export const invalidState = (message: string): PaymeshError => new PaymeshError('INVALID_STATE', { message })

/** `VALIDATION_ERROR` about one field whose fault says everything, so that it is the text of the error as well. */
export const wrongEntry = (path: string, message: string): PaymeshError =>
  new PaymeshError('VALIDATION_ERROR', { message, details: [{ path, message }] })

/** `RATE_LIMITED` with the seconds to wait in `retryAfter`; `what` was done too often, a plural. */
export function tooMany(what: string, waitMs: number): PaymeshError {
  const seconds = Math.ceil(waitMs / 1_000)
  const details = [{ path: 'retryAfter', message: String(seconds) }]
  return new PaymeshError('RATE_LIMITED', { message: `Too many ${what}. Try again in ${seconds} s.`, details })
}
