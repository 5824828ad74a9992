import { createServer as createHttpServer, type Server, type ServerResponse, STATUS_CODES } from 'node:http'
import express, { type Express, type NextFunction, type Request, type Response } from 'express'
import { PaymeshError } from '#shared/contracts/errors.ts'
import { errorEnvelope } from '#shared/contracts/http/envelope.ts'
import { RATE_BURST, RATE_LIMIT_PER_MINUTE } from '#shared/ports/rate-limit.ts'
import type { Runtime } from '#shared/ports/runtime.ts'
import { compressAnswers, limitRequests, REQUEST_LIMIT_OPTIONS } from '#shared/runtime/http/http-server.ts'
import type { ApiDeps } from './api-deps.ts'
import { type Executor, executeFailure, executePage, executeRoute } from './middleware/execute.ts'
import { HARDENED, MethodNotAllowed } from './middleware/send.ts'
import { referenceAssets, referencePages } from './reference/pages.ts'
import type { Route } from './route.ts'
import { ROUTES } from './routes.ts'

/** Path prefix of the API (specification §1). */
const BASE_PATH = '/api/v1'
/** Lists and the OpenAPI document; compressing a single resource takes longer than sending it. */
const COMPRESS_FROM_BYTES = 8_192

/**
 * The REST API as an Express application. It does not start listening and connects to nothing. Every request
 * ends in the envelope with rate headers, whatever its path, method or body; only the built files of the reference page do not.
 */
export function createApp(deps: ApiDeps, routes: readonly Route[] = ROUTES): Express {
  const app = express()
  app.disable('x-powered-by')
  app.disable('etag')
  app.set('query parser', false)
  app.use(compressAnswers(COMPRESS_FROM_BYTES))
  for (const path of new Set(routes.map(expressPath))) {
    const here = routes.filter((route) => expressPath(route) === path)
    for (const route of here) register(app, route, executeRoute(deps, route))
    const allow = here.flatMap(({ method }) => (method === 'GET' ? ['GET', 'HEAD'] : [method])).join(', ')
    app.all(BASE_PATH + path, executeFailure(deps, new MethodNotAllowed(allow)))
  }
  for (const page of referencePages(deps)) {
    app.get(BASE_PATH + page.path, executePage(deps, page))
    app.all(BASE_PATH + page.path, executeFailure(deps, new MethodNotAllowed('GET, HEAD')))
  }
  const assets = referenceAssets(deps)
  if (assets !== null) app.use(`${BASE_PATH}/docs/assets`, assets)
  app.use(executeFailure(deps, new PaymeshError('NOT_FOUND', { message: 'Path not found.' })))
  // Express recognises an error handler by its four parameters.
  app.use((error: unknown, request: Request, response: Response, _next: NextFunction) => {
    if (!(error instanceof URIError)) return executeFailure(deps, error)(request, response)
    request.url = literalPath(request.url)
    return app(request, response)
  })
  return app
}

/**
 * The router throws at a broken percent escape before authentication. With every `%` taken literally the same
 * request matches its operation, passes the checks in order and fails with a malformed id.
 */
function literalPath(target: string): string {
  const [path = '', ...query] = target.split('?')
  return [path.replaceAll('%', '%25'), ...query].join('?')
}

/** The path of an operation in Express syntax. */
const expressPath = ({ path }: Route): string => path.replace('{id}', ':id')

function register(app: Express, route: Route, execute: Executor): void {
  const { method } = route
  const path = expressPath(route)
  if (method === 'GET') app.get(BASE_PATH + path, execute)
  else if (method === 'POST') app.post(BASE_PATH + path, execute)
  else app.delete(BASE_PATH + path, execute)
}

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
