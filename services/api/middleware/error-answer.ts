import type { OutgoingHttpHeaders } from 'node:http'
import { PaymeshError } from '#shared/contracts/errors.ts'
import { errorEnvelope } from '#shared/contracts/http/envelope.ts'
import { RatesUnavailable } from '#shared/contracts/rates-unavailable.ts'
import type { Logger } from '#shared/ports/runtime.ts'

/** An error as returned to the client: only the public code and text. */
export interface ErrorAnswer {
  readonly status: number
  readonly code: string
  readonly body: string
}

/** Maps any thrown error to a response. Unexpected errors are logged with their cause and become `INTERNAL_ERROR`. */
export function errorAnswer(error: unknown, requestId: string, logger: Logger): ErrorAnswer {
  const known = asPaymeshError(error)
  if (known.status >= 500) logger.error({ requestId, error }, 'request failed')
  else if (known.internal !== undefined) logger.debug({ requestId, internal: known.internal }, 'request refused')
  return { status: known.status, code: known.code, body: errorEnvelope(known, requestId) }
}

/** Headers of an error. `allow` lists the methods of the path for 405. */
export function errorHeaders(error: unknown, retryAfter: number | null): OutgoingHttpHeaders | null {
  if (!(error instanceof PaymeshError)) return null
  if (error.code === 'UNAUTHENTICATED') return { 'WWW-Authenticate': 'Bearer' }
  if (error.code === 'RATE_LIMITED') return { 'Retry-After': retryAfter ?? 1 }
  if (error instanceof RatesUnavailable) return { 'Retry-After': error.retryAfter }
  return error instanceof MethodNotAllowed ? { Allow: error.allow } : null
}

/** The path exists, but not with this method. */
export class MethodNotAllowed extends PaymeshError {
  readonly allow: string

  constructor(allow: string) {
    super('NOT_FOUND', { status: 405, message: `This path only allows ${allow}.` })
    this.allow = allow
  }
}

/** The error itself if it is public, otherwise an `INTERNAL_ERROR` that wraps it. */
export function asPaymeshError(error: unknown): PaymeshError {
  if (error instanceof PaymeshError) return error
  return new PaymeshError('INTERNAL_ERROR', { cause: error })
}
