import { createServer as createHttpServer, type Server, type ServerResponse, STATUS_CODES } from 'node:http'
import type { Express } from 'express'
import { PaymeshError } from '#shared/contracts/errors.ts'
import { errorEnvelope } from '#shared/contracts/http/envelope.ts'
import { RATE_BURST, RATE_LIMIT_PER_MINUTE } from '#shared/ports/rate-limit.ts'
import type { Runtime } from '#shared/ports/runtime.ts'
import { limitRequests, REQUEST_LIMIT_OPTIONS } from '#shared/runtime/http/request-limits.ts'
import { HARDENED } from './middleware/send.ts'

/**
 * An HTTP server for an Express application; it does not start listening. What never reaches the application (no HTTP, no Host, too many
 * headers) is refused here in the application's own envelope.
 */
export function createServer(app: Express, runtime: RequestIdSources): Server {
  // Node's own refusal of a request without Host (RFC 9112 §3.2) would be a response without the envelope.
  const options = { ...REQUEST_LIMIT_OPTIONS, requireHostHeader: false }
  const server = createHttpServer(options, (request, response) => {
    if (request.headers.host === undefined && request.httpVersion === '1.1') refuse(response, NO_HOST, runtime)
    else app(request, response)
  })
  limitRequests(server)
  server.on('clientError', (error: Error & { code?: string }, socket) => {
    if (error.code === 'ECONNRESET' || !socket.writable) socket.destroy()
    else socket.end(rawAnswer(REFUSALS[error.code ?? ''] ?? NO_HTTP, runtime))
  })
  server.on('checkExpectation', (request, response) => app(request, response))
  return server
}

type RequestIdSources = Pick<Runtime, 'random' | 'clock'>

/** Status and text for a request that never reaches the application. */
interface Refusal {
  readonly status: number
  readonly message: string
}

const NO_HTTP: Refusal = { status: 400, message: 'This is not an HTTP request.' }
const NO_HOST: Refusal = { status: 400, message: 'The Host header is missing.' }
/** By the error code of Node's parser or timer. */
const REFUSALS: Readonly<Record<string, Refusal>> = {
  HPE_HEADER_OVERFLOW: { status: 431, message: 'The request headers are too large.' },
  ERR_HTTP_REQUEST_TIMEOUT: { status: 408, message: 'The request did not arrive in time.' },
}

/** Headers and body of a refusal; no bucket was read, so the headers show a full one. */
function answerTo(
  { message }: Refusal,
  runtime: RequestIdSources,
): { headers: Record<string, string | number>; body: string } {
  const requestId = `req_${runtime.random.uuid().replaceAll('-', '')}`
  const body = errorEnvelope(new PaymeshError('VALIDATION_ERROR', { message }), requestId)
  const headers = {
    'Content-Type': 'application/json; charset=utf-8',
    'Content-Length': Buffer.byteLength(body),
    ...HARDENED,
    'X-RateLimit-Limit': RATE_LIMIT_PER_MINUTE,
    'X-RateLimit-Remaining': RATE_BURST,
    'X-RateLimit-Reset': Math.ceil(runtime.clock.now() / 1_000),
    Connection: 'close',
  }
  return { headers, body }
}

function refuse(response: ServerResponse, refusal: Refusal, runtime: RequestIdSources): void {
  const { headers, body } = answerTo(refusal, runtime)
  response.writeHead(refusal.status, headers).end(body)
}

/** The bytes of a refusal where there is no response to write to. */
function rawAnswer(refusal: Refusal, runtime: RequestIdSources): string {
  const { headers, body } = answerTo(refusal, runtime)
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`)
  return [`HTTP/1.1 ${refusal.status} ${STATUS_CODES[refusal.status]}`, ...lines, '', body].join('\r\n')
}
