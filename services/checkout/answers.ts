import { createHash } from 'node:crypto'
import type { NextFunction, Request, RequestHandler, Response } from 'express'
import { z } from 'zod'
import { PaymeshError } from '#shared/contracts/errors.ts'
import { invalid, validate } from '#shared/contracts/http/validate.ts'
import { RatesUnavailable } from '#shared/contracts/rates-unavailable.ts'
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

/** Maps every thrown error to a code with a public text; unexpected ones are logged. */
export function errorHandler(logger: Logger) {
  return (error: unknown, request: Request, response: Response, next: NextFunction): void => {
    if (response.headersSent) {
      next(error)
      return
    }
    const known = asPublic(error)
    if (known.status >= 500) logger.error({ path: request.path, error }, 'a checkout request failed')
    const isBusy =
      known instanceof TooMany ||
      known instanceof VisitorBudgetSpent ||
      known instanceof LinkBusy ||
      known instanceof RatesUnavailable
    if (isBusy && known.retryAfter !== null) response.set('Retry-After', String(known.retryAfter))
    const { code, message, details = [] } = known
    response.status(known.status).json({ error: { code, message, details } })
  }
}

function asPublic(error: unknown): PaymeshError {
  if (error instanceof PaymeshError) return error
  // Bodies that are too large or not JSON, and broken escapes in paths, carry their own status.
  const status = error instanceof Error && 'status' in error ? Number(error.status) : 500
  if (error instanceof URIError) return new PaymeshError('NOT_FOUND')
  if (status === 413) return new PaymeshError('VALIDATION_ERROR', { status, message: 'The request is too large.' })
  if (status >= 400 && status < 500) return new PaymeshError('VALIDATION_ERROR')
  return new PaymeshError('INTERNAL_ERROR', { cause: error })
}
