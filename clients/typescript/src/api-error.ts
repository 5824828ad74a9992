import type { PaymeshErrorCode, PaymeshErrorDetail } from './types.ts'

/** What an error answer of the API says, and how it came. */
interface ApiErrorFacts {
  readonly code: PaymeshErrorCode
  readonly message: string
  readonly details: readonly PaymeshErrorDetail[]
  readonly status: number
  readonly requestId: string
  readonly retryAfterMs: number | null
  /** Method and path of the call, for the message. */
  readonly operation: string
}

/**
 * The API refused a call. Branch on `code`, never on the message; quote `requestId` when you ask the operator.
 * It is thrown after the client's own retries, so `retryable` means: the same call may succeed later.
 */
export class PaymeshApiError extends Error {
  readonly code: PaymeshErrorCode
  /** HTTP status of the answer. */
  readonly status: number
  /** The offending fields of a `VALIDATION_ERROR`, dotted paths like `customer.email`; otherwise mostly empty. */
  readonly details: readonly PaymeshErrorDetail[]
  readonly requestId: string
  readonly retryable: boolean
  /** How long the API asked to wait, in milliseconds; null when it did not. */
  readonly retryAfterMs: number | null

  constructor(facts: ApiErrorFacts) {
    const fields = facts.details.map(({ path, message }) => ` ${path}: ${message}.`).join('')
    super(`${facts.code}: ${facts.message}${fields} (${facts.operation}, ${facts.requestId})`)
    this.name = 'PaymeshApiError'
    this.code = facts.code
    this.status = facts.status
    this.details = facts.details
    this.requestId = facts.requestId
    this.retryable = facts.status === 429 || facts.status >= 500 || facts.code === 'IDEMPOTENCY_IN_PROGRESS'
    this.retryAfterMs = facts.retryAfterMs
  }
}

/** `network`: no answer came; `timeout`: none came in time; `unreadable`: something else than the API answered. */
export type ConnectionFault = 'network' | 'timeout' | 'unreadable'

/**
 * No answer of the API was read. Whether the call took effect is unknown: repeat a POST with the same
 * `idempotencyKey` to find out. It is thrown after the client's own retries.
 */
export class PaymeshConnectionError extends Error {
  readonly reason: ConnectionFault
  /** HTTP status of an unreadable answer, as a proxy in between gives it; null when none came. */
  readonly status: number | null
  readonly retryable: boolean
  /** How long the answer asked to wait, in milliseconds; null when it did not. */
  readonly retryAfterMs: number | null
  /** The key that the call carried; null for calls without one. */
  readonly idempotencyKey: string | null

  constructor(
    reason: ConnectionFault,
    facts: {
      readonly operation: string
      readonly idempotencyKey: string | null
      readonly status?: number
      readonly retryAfterMs?: number | null
      readonly cause?: unknown
    },
  ) {
    const what = { network: 'the API was not reached', timeout: 'no answer in time', unreadable: 'not an API answer' }
    const status = facts.status === undefined ? '' : `, status ${facts.status}`
    super(`${what[reason]} (${facts.operation}${status})`, { cause: facts.cause })
    this.name = 'PaymeshConnectionError'
    this.reason = reason
    this.status = facts.status ?? null
    this.retryable = reason !== 'unreadable' || facts.status === 429 || (facts.status ?? 0) >= 500
    this.retryAfterMs = facts.retryAfterMs ?? null
    this.idempotencyKey = facts.idempotencyKey
  }
}
