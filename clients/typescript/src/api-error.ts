import type { PaymeshErrorCode, PaymeshErrorDetail } from './types.ts'

/** Content of an error response of the API. */
interface ApiErrorFacts {
  readonly code: PaymeshErrorCode
  readonly message: string
  readonly details: readonly PaymeshErrorDetail[]
  readonly status: number
  readonly requestId: string
  readonly retryAfterMs: number | null
  readonly isReplayed: boolean
  /** Method and path of the call, for the message. */
  readonly operation: string
}

/**
 * The API refused a call. Branch on `code`, never on the message; quote `requestId` when you contact the operator.
 * It is thrown after the client's own retries, so `retryable` means that the same call may succeed later.
 */
export class PaymeshApiError extends Error {
  readonly code: PaymeshErrorCode
  /** HTTP status of the response. */
  readonly status: number
  /** The invalid fields of a `VALIDATION_ERROR`, dotted paths like `customer.email`; otherwise mostly empty. */
  readonly details: readonly PaymeshErrorDetail[]
  readonly requestId: string
  readonly retryable: boolean
  /** Pause that the API requested, in milliseconds; null without one. */
  readonly retryAfterMs: number | null
  /** Whether it repeats the first response of the idempotency key, of up to 24 hours ago; under another key it may be another one. */
  readonly isReplayed: boolean

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
    this.isReplayed = facts.isReplayed
  }
}

/** `network`: no response; `timeout`: no response in time; `unreadable`: the response did not come from the API. */
export type ConnectionFault = 'network' | 'timeout' | 'unreadable'

/**
 * No API response was received. Whether the call took effect is unknown: repeat a POST with the same
 * `idempotencyKey` to find out. It is thrown after the client's own retries.
 */
export class PaymeshConnectionError extends Error {
  readonly reason: ConnectionFault
  /** HTTP status of an unreadable response, for example of a proxy; null without one. */
  readonly status: number | null
  readonly retryable: boolean
  /** Pause that the response requested, in milliseconds; null without one. */
  readonly retryAfterMs: number | null
  /** The idempotency key of the call; null for calls without one. */
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
    const what = {
      network: 'the API was not reached',
      timeout: 'no response in time',
      unreadable: 'not an API response',
    }
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
