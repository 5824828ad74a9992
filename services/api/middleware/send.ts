import { isUtf8 } from 'node:buffer'
import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http'
import { PaymeshError } from '#shared/contracts/errors.ts'
import { errorEnvelope } from '#shared/contracts/http/envelope.ts'
import { invalid } from '#shared/contracts/http/validate.ts'
import { RatesUnavailable } from '#shared/contracts/rates/rates-unavailable.ts'
import { type Admission, RATE_LIMIT_PER_MINUTE } from '#shared/ports/rate-limit.ts'
import type { Logger } from '#shared/ports/runtime.ts'

/** Fields of a response besides the body. */
export interface OutgoingResponse {
  readonly status: number
  readonly body: string
  readonly rate: Pick<Admission, 'remaining' | 'resetAt'>
  readonly extra: OutgoingHttpHeaders | null
}

/**
 * On every response: browsers use only the stated type (Fetch standard, `X-Content-Type-Options`), and only
 * TLS for a year (RFC 6797; browsers ignore it on responses without TLS). No link in a response passes its address on (Referrer Policy).
 */
export const HARDENED = {
  'X-Content-Type-Options': 'nosniff',
  'Referrer-Policy': 'no-referrer',
  'Strict-Transport-Security': 'max-age=31536000',
} as const

/** Writes a response in one piece, with the rate headers that every response carries. */
export function send(response: ServerResponse, { status, body, rate, extra }: OutgoingResponse): void {
  if (response.headersSent || response.destroyed) return
  const headers: OutgoingHttpHeaders = {
    'Content-Type': 'application/json; charset=utf-8',
    'Content-Length': Buffer.byteLength(body),
    'Cache-Control': 'no-store',
    ...HARDENED,
    'X-RateLimit-Limit': RATE_LIMIT_PER_MINUTE,
    'X-RateLimit-Remaining': rate.remaining,
    'X-RateLimit-Reset': rate.resetAt,
  }
  response.writeHead(status, extra === null ? headers : Object.assign(headers, extra))
  response.end(body)
}

/** Maps any thrown error to a response, with the public code and text alone. Unexpected errors are logged with their cause and become `INTERNAL_ERROR`. */
export function errorAnswer(error: unknown, requestId: string, logger: Logger) {
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

/** Largest request body. */
const BODY_BYTES_MAX = 256 * 1_024

const JSON_TYPE = /^application\/json[ \t]*(;|$)/i
/** The charset parameter of a media type. JSON defines no parameters, so every other one is ignored. */
const CHARSET = /;[ \t]*charset[ \t]*=[ \t]*"?([^";\s]*)/gi
const EMPTY = Buffer.alloc(0)

/**
 * Collects the raw body. Throws `VALIDATION_ERROR` with status 413 above 256 KB and 415 for a body that is not plain
 * JSON in UTF-8, and plain `VALIDATION_ERROR` when the client disconnects before its body is complete.
 */
export function readBody(request: IncomingMessage): Promise<Buffer> {
  const { headers } = request
  const declared = Number(headers['content-length'] ?? 0)
  if (declared === 0 && headers['transfer-encoding'] === undefined) return Promise.resolve(EMPTY)
  const readable = isPlainJson(headers)
  if (declared > 0 && !readable) return Promise.reject(unsupportedType())
  if (declared > BODY_BYTES_MAX) return Promise.reject(tooLarge())
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    let size = 0
    request.on('data', (chunk: Buffer) => {
      // A chunked body may turn out to be empty; an empty body needs no type.
      if (!readable) reject(unsupportedType())
      size += chunk.length
      if (size <= BODY_BYTES_MAX) chunks.push(chunk)
      else reject(tooLarge())
    })
    request.on('end', () => resolve(chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks)))
    request.on('error', (cause) => reject(incomplete(cause)))
    // Disconnected before a listener was attached: no event will follow.
    if (request.destroyed) reject(incomplete(request.errored))
  })
}

/** The JSON value of a body, undefined when it is empty. Throws `VALIDATION_ERROR` for anything but JSON in UTF-8. */
export function parseJson(body: Buffer): unknown {
  if (body.length === 0) return undefined
  try {
    if (isUtf8(body)) return JSON.parse(body.toString('utf8'))
  } catch {
    // Reported below, together with broken UTF-8; the parser's own text quotes the body.
  }
  throw invalid([{ path: '', message: 'the body is not valid JSON in UTF-8' }])
}

function isPlainJson(headers: IncomingMessage['headers']): boolean {
  const type = headers['content-type']
  const encoding = headers['content-encoding']
  if (encoding !== undefined && encoding !== 'identity') return false
  if (type === 'application/json') return true
  if (type === undefined || !JSON_TYPE.test(type)) return false
  return Array.from(type.matchAll(CHARSET)).every(([, charset]) => /^utf-?8$/i.test(charset ?? ''))
}

function tooLarge(): PaymeshError {
  return new PaymeshError('VALIDATION_ERROR', { status: 413, message: 'The request body is larger than 256 KB.' })
}

/** A fault of the client: it must not count as a server error. */
function incomplete(cause: Error | null): PaymeshError {
  return new PaymeshError('VALIDATION_ERROR', { message: 'The request body did not arrive completely.', cause })
}

function unsupportedType(): PaymeshError {
  return new PaymeshError('VALIDATION_ERROR', {
    status: 415,
    message: 'The request body must be application/json in UTF-8, without a content encoding.',
  })
}
