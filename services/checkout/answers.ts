import { createHash } from 'node:crypto'
import type { NextFunction, Request, RequestHandler, Response } from 'express'
import { z } from 'zod'
import { PaymeshError } from '#shared/contracts/errors.ts'
import { invalid, validate } from '#shared/contracts/http/validate.ts'
import { RatesUnavailable } from '#shared/contracts/rates/rates-unavailable.ts'
import type { Logger } from '#shared/ports/runtime.ts'
import { LinkBusy } from '#shared/usecases/payment-links/link-busy.ts'
import { VisitorBudgetSpent } from '#shared/usecases/quotes/visitor-budget.ts'
import { TooMany } from './limits.ts'

const ID = z.guid().toLowerCase()

/** The id in the path. Malformed ids are reported as unknown. Throws `NOT_FOUND`. */
export function idOf(request: Request): string {
  const read = ID.safeParse(request.params['id'])
  if (!read.success) throw new PaymeshError('NOT_FOUND')
  return read.data
}

/** The body of a POST. Only JSON is accepted: a page of another origin cannot send it without CORS permission. Throws `VALIDATION_ERROR`. */
export function bodyOf<T extends z.ZodType>(schema: T, request: Request): z.output<T> {
  if (!request.is('application/json')) throw invalid([{ path: '', message: 'must be sent as application/json' }])
  return validate(schema, request.body)
}

/** A handler whose rejection is passed to the error handler. */
export function handle(work: (request: Request, response: Response) => Promise<void>): RequestHandler {
  return (request, response, next) => {
    work(request, response).catch(next)
  }
}

/** A short digest of a response's content. */
export function tagOf(text: string): string {
  return createHash('sha256').update(text).digest('base64url').slice(0, 16)
}

/** Pages ask again after this many seconds when a read failed. */
const AWAY_RETRY_S = 5
/** A read that takes longer is answered with 503: the page says so, and asks again. */
const READ_MS = 6_000

/**
 * Answers a read that takes too long with 503, so that a page whose store hangs says so within seconds. The read continues; what it
 * answers afterwards is dropped. Other methods pass: their outcome is worth waiting for.
 */
export const limitReads: RequestHandler = (request, response, next) => {
  if (request.method === 'GET' && !request.path.endsWith('/live')) {
    const timer = setTimeout(() => {
      if (!response.headersSent) next(new PaymeshError('INTERNAL_ERROR', { internal: 'a read took too long' }))
    }, READ_MS)
    response.once('close', () => clearTimeout(timer))
  }
  next()
}

/** Maps every thrown error of the API to a code with a public text; unexpected ones are logged, and answered with 503. */
export function errorHandler(logger: Logger) {
  return (error: unknown, request: Request, response: Response, next: NextFunction): void => {
    if (response.headersSent) {
      if (!response.writableEnded) next(error)
      return
    }
    const known = publicError(error)
    if (known.status >= 500) logger.error({ path: request.path, error }, 'a checkout request failed')
    const wait = retryAfterOf(known)
    if (wait !== null) response.set('Retry-After', String(wait))
    const { code, message, details = [] } = known
    response.status(known.status).json({ error: { code, message, details } })
  }
}

/** Seconds until the same request may succeed; null when waiting does not help, or nobody can say. */
export function retryAfterOf(error: PaymeshError): number | null {
  if (error instanceof TooMany || error instanceof VisitorBudgetSpent || error instanceof LinkBusy)
    return error.retryAfter
  if (error instanceof RatesUnavailable) return error.retryAfter
  return error.status === 503 ? AWAY_RETRY_S : null
}

/** The error as payers may see it: an unexpected one is a service that is away for a moment (503). */
export function publicError(error: unknown): PaymeshError {
  if (error instanceof PaymeshError && error.code !== 'INTERNAL_ERROR') return error
  // Bodies that are too large or not JSON, and broken escapes in paths, carry their own status.
  const status = error instanceof Error && 'status' in error ? Number(error.status) : 500
  if (error instanceof URIError) return new PaymeshError('NOT_FOUND')
  if (status === 413) return new PaymeshError('VALIDATION_ERROR', { status, message: 'The request is too large.' })
  if (status >= 400 && status < 500) return new PaymeshError('VALIDATION_ERROR')
  return new PaymeshError('INTERNAL_ERROR', { status: 503, cause: error })
}
