import { isUtf8 } from 'node:buffer'
import type { IncomingMessage } from 'node:http'
import { PaymeshError } from '#shared/contracts/errors.ts'
import { invalid } from '#shared/contracts/http/validate.ts'

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
