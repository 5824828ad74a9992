import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http'
import type { z } from 'zod'
import type { ApiDeps } from '#services/api/api-deps.ts'
import type { Page } from '#services/api/reference/pages.ts'
import type { Handler, RequestContext, Route } from '#services/api/route.ts'
import { ERROR_TABLE, type ErrorCode, PaymeshError } from '#shared/contracts/errors.ts'
import { errorEnvelope, errorEnvelopeSchema } from '#shared/contracts/http/envelope.ts'
import { invalid } from '#shared/contracts/http/validate.ts'
import { errorCodes, type Operation } from '#shared/contracts/openapi/operation.ts'
import { successSchema } from '#shared/contracts/openapi/success-schema.ts'
import { parseTraceParent, type TraceParent } from '#shared/contracts/trace-parent.ts'
import type { Answer } from '#shared/ports/answer.ts'
import type { Admission } from '#shared/ports/rate-limit.ts'
import { addressGroup, clientAddress } from '#shared/runtime/http/http-server.ts'
import {
  bodyFingerprint,
  idempotencyScope,
  isIdempotencyKey,
  readIdempotencyKey,
} from '#shared/usecases/requests/idempotency-scope.ts'
import { runOnce } from '#shared/usecases/requests/run-once.ts'
import type { Credential } from '#shared/usecases/workspaces/api-key-cache.ts'
import { requireStatus } from '#shared/usecases/workspaces/require-status.ts'
import { asPaymeshError, errorAnswer, errorHeaders, readBody, send } from './send.ts'

/** Returns the fault of a response about to be sent, or null when it follows the API's schemas. */
type AnswerCheck = (status: number, body: string) => Error | null

/** Transport faults have a separate status and use the nearest code: wrong method, body too large, wrong media type. */
const BORROWED: ReadonlyMap<number, ErrorCode> = new Map([
  [405, 'NOT_FOUND'],
  [413, 'VALIDATION_ERROR'],
  [415, 'VALIDATION_ERROR'],
])
const EVERY_CODE: ReadonlySet<ErrorCode> = new Set(Object.keys(ERROR_TABLE) as ErrorCode[])

/**
 * A check of every response of an operation, or of unrouted requests, against the schemas of the OpenAPI document:
 * status, body and error code. It parses the whole body, so it is for development and tests only.
 */
export function createAnswerCheck(operation: Operation | null): AnswerCheck {
  const codes = operation === null ? EVERY_CODE : errorCodes(operation)
  return (status, text) => {
    const body = parse(text)
    if (status >= 400) return wrongError(status, body, codes)
    if (operation === null) return null
    if (status !== operation.success.status) return new Error(`${operation.operationId} must not answer ${status}`)
    return mismatch(successSchema(operation.success), body)
  }
}

function wrongError(status: number, body: unknown, codes: ReadonlySet<ErrorCode>): Error | null {
  const result = errorEnvelopeSchema.safeParse(body)
  if (!result.success) return asError(result.error)
  const { code } = result.data.error
  if (!codes.has(code)) return new Error(`${code} is not declared for this operation`)
  if (status === ERROR_TABLE[code].status || BORROWED.get(status) === code) return null
  return new Error(`${code} must not be answered with ${status}`)
}

function mismatch(schema: z.ZodType, body: unknown): Error | null {
  const result = schema.safeParse(body)
  return result.success ? null : asError(result.error)
}

function asError({ issues }: z.ZodError): Error {
  const faults = issues.map(({ path, message }) => `${path.join('.')}: ${message}`)
  return new Error(`the answer breaks its schema: ${faults.join('; ')}`)
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** Path parameters of the matched route. */
type PathParams = Readonly<Record<string, unknown>>

/** Runs one request to its response; never rejects. */
export type Executor = (
  request: IncomingMessage & { readonly params?: PathParams },
  response: ServerResponse,
) => Promise<void>

/** A response with additional headers besides those that every response has. */
type Reply = Answer & { readonly headers?: OutgoingHttpHeaders }

/** The work of an admitted request. */
type Work = (request: IncomingMessage, admitted: Admittance, requestId: string, params: PathParams) => Promise<Reply>

const NO_IDS = { resourceId: '', opId: '' }

/** The executor of a route: the checks in their fixed order, then the endpoint. */
export function executeRoute(deps: ApiDeps, route: Route): Executor {
  const handler = route.handler(deps)
  const work: Work = async (request, admitted, requestId, params) => {
    const credential = requireAdmission(admitted)
    requireRights(credential, route)
    const facts = await readContext(request, admitted, credential, requestId, params, route)
    const context = { ...facts, from: clientAddress(request, deps.trustedProxies) }
    return runHandler(deps, route, handler, context)
  }
  return executor(deps, { route, name: `${route.method} ${route.path.replace('{id}', ':id')}` }, work)
}

/** The executor of a public page without a key; it costs a token like any other request. */
export function executePage(deps: ApiDeps, page: Page): Executor {
  return executor(deps, { route: null, name: `GET ${page.path}` }, async (_request, admitted) => {
    if (!admitted.admission.allowed) requireAdmission(admitted)
    return { status: 200, body: page.body(), replayed: false, headers: page.headers }
  })
}

/** The executor of an unrouted request: it costs a token like any other and then fails with `error`. */
export function executeFailure(deps: ApiDeps, error: unknown): Executor {
  return executor(deps, { route: null, name: 'unknown' }, (_request, admitted) => {
    if (!admitted.admission.allowed) requireAdmission(admitted)
    throw error
  })
}

/** Identification of a request; `name` is its label in log and metrics. */
interface Subject {
  readonly route: Route | null
  readonly name: string
}

function executor(deps: ApiDeps, { route, name }: Subject, work: Work): Executor {
  const check = deps.checkAnswers ? createAnswerCheck(route) : null
  return async (request, response) => {
    const { params = {} } = request
    const startedAt = performance.now()
    const requestId = `req_${deps.random.uuid().replaceAll('-', '')}`
    let admitted: Admittance | null = null
    let answer: Reply
    let code: string | null = null
    let extra: OutgoingHttpHeaders | null = null
    try {
      admitted = await admit(deps, request, requestId, route?.method === 'POST' ? realPath(route, params) : null)
      answer = await work(request, admitted, requestId, params)
      requireSound(check, answer)
      extra = answer.replayed ? { 'Idempotent-Replayed': 'true' } : (answer.headers ?? null)
    } catch (thrown) {
      const error = check === null ? thrown : soundError(check, thrown, requestId)
      const failed = errorAnswer(error, requestId, deps.logger)
      answer = { status: failed.status, body: failed.body, replayed: false }
      code = failed.code
      extra = errorHeaders(error, admitted?.admission.retryAfter ?? null)
    }
    if (admitted?.marker) deps.limiter.clearMarker(admitted.marker)
    const rate = admitted?.admission ?? deps.limiter.peek(addressBucket(deps, request))
    send(response, { status: answer.status, body: answer.body, rate, extra })
    report(deps, {
      requestId,
      operation: name,
      answer,
      code,
      resourceId: resourceIdOf(params, answer),
      workspaceId: admitted?.credential?.workspace.id,
      // Of a caller with a key only: a stranger's request must not decide what is recorded.
      parent: admitted?.credential ? parseTraceParent(request.headers['traceparent']) : null,
      startedAt,
    })
  }
}

/** Throws, which turns the response into a logged `INTERNAL_ERROR`, when the response breaks its contract. */
function requireSound(check: AnswerCheck | null, { status, body }: Answer): void {
  const fault = check?.(status, body) ?? null
  if (fault !== null) throw fault
}

/** The error itself, or its fault as a response of this operation. */
function soundError(check: AnswerCheck, thrown: unknown, requestId: string): unknown {
  const known = asPaymeshError(thrown)
  return check(known.status, errorEnvelope(known, requestId)) ?? thrown
}

/** Suspended → scope → mode, in this order. */
function requireRights({ key, workspace }: Credential, route: Route): void {
  requireStatus(workspace, 'restricted')
  if (!key.scopes.includes(route.scope)) throw new PaymeshError('FORBIDDEN_SCOPE')
  if (route.testOnly && key.mode !== 'test') throw new PaymeshError('TEST_MODE_ONLY')
}

async function readContext(
  request: IncomingMessage,
  admitted: Admittance,
  { key, workspace }: Credential,
  requestId: string,
  params: PathParams,
  route: Route,
): Promise<Omit<RequestContext, 'from'>> {
  const isPost = route.method === 'POST'
  const header = isPost ? request.headers['idempotency-key'] : undefined
  const idempotencyKey = readIdempotencyKey(Array.isArray(header) ? header.join(', ') : header)
  const rawBody = isPost ? await readBody(request) : Buffer.alloc(0)
  const path = realPath(route, params)
  const scopeOf = (text: string) =>
    idempotencyScope({ workspaceId: workspace.id, mode: key.mode, method: 'POST', path, key: text })
  return {
    requestId,
    workspace,
    mode: key.mode,
    actor: `api_key:${key.id}`,
    params,
    query: readQuery(request.url ?? ''),
    rawBody,
    once:
      idempotencyKey === null
        ? null
        : {
            key: idempotencyKey,
            scope: scopeOf(idempotencyKey),
            fingerprint: bodyFingerprint(rawBody),
            marker: admitted.admission.marker,
          },
    ids: NO_IDS,
  }
}

/** Idempotency → restricted → the endpoint's own validation, plan and work. */
function runHandler(deps: ApiDeps, route: Route, handler: Handler, context: RequestContext): Promise<Answer> {
  if (route.method !== 'POST' || route.keepsIdempotencyItself) return handler(context)
  const once = context.once === null ? null : { ...context.once, requestId: context.requestId }
  return runOnce(deps, once, (ids) => {
    if (route.restricted) requireStatus(context.workspace, 'active')
    return handler({ ...context, ids })
  })
}

/** The route's path with the id of this request, so that one key on two resources is two operations. */
function realPath(route: Route, params: PathParams): string {
  return route.path.replace('{id}', String(params['id']).toLowerCase())
}

function report(
  deps: Pick<ApiDeps, 'logger' | 'metrics' | 'tracer'>,
  outcome: {
    readonly requestId: string
    readonly operation: string
    readonly answer: Answer
    readonly code: string | null
    readonly resourceId: string | undefined
    readonly workspaceId: string | undefined
    readonly parent: TraceParent | null
    readonly startedAt: number
  },
): void {
  const { requestId, operation, answer, code, resourceId, workspaceId, parent, startedAt } = outcome
  const { status } = answer
  const durationMs = performance.now() - startedAt
  deps.metrics.observe('http_request_seconds', durationMs / 1_000, { operation, status: String(status) })
  deps.logger.info(
    { requestId, operation, status, code, resourceId, workspaceId, durationMs: Math.round(durationMs * 100) / 100 },
    'request',
  )
  if (answer.replayed) deps.metrics.count('idempotency_replays_total', { operation })
  deps.tracer?.record({
    name: operation,
    invoiceId: INVOICE_OPERATION.test(operation) ? (resourceId ?? null) : null,
    root: operation === 'POST /invoices' && status === 201 && !answer.replayed,
    parent,
    kind: 'server',
    durationMs,
    failed: status >= 500,
    attributes: { requestId, status, ...(code === null ? {} : { code }) },
  })
}

const INVOICE_OPERATION = /^[A-Z]+ \/invoices\b/
/** Text in the place of an id that is not one may be anything, even a key: it is not logged. */
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i
/** Beginning of a response body about one resource. */
const ONE_RESOURCE = /^\{"data":\{"id":"([^"]{1,64})"/

/** The id that connects the log lines of outbox, workers and attempts with the line of the request. */
function resourceIdOf(params: PathParams, answer: Answer): string | undefined {
  return (
    ONE_RESOURCE.exec(answer.body)?.[1] ??
    (typeof params['id'] === 'string' && UUID.test(params['id']) ? params['id'] : undefined)
  )
}

const NONE: Readonly<Record<string, string>> = {}

/** The query parameters of a request target. Throws `VALIDATION_ERROR` with the name of each repeated parameter. */
function readQuery(target: string): Readonly<Record<string, string>> {
  const start = target.indexOf('?')
  if (start === -1) return NONE
  const result = new Map<string, string>()
  const repeated = new Set<string>()
  for (const [name, value] of new URLSearchParams(target.slice(start + 1))) {
    if (result.has(name)) repeated.add(name)
    result.set(name, value)
  }
  if (repeated.size > 0) {
    throw invalid([...repeated].map((path) => ({ path, message: 'is given more than once' })))
  }
  return Object.fromEntries(result)
}

/** Result of admission; `credential` is null for requests without a valid key. */
interface Admittance {
  readonly credential: Credential | null
  readonly admission: Admission
  /** Set when this request marked its idempotent operation as running, or may have, and must clear the marker. */
  readonly marker: { readonly id: string; readonly owner: string } | null
}

const BEARER = /^Bearer +([\x21-\x7e]+) *$/i

/**
 * Takes a token from the bucket of the key, or of the client's address without a valid key, and identifies the
 * client: one Redis script, and the store only when the cached records may be outdated. `path` is the operation's path with
 * its real id, for POSTs only. Never throws for a refused request; the caller reads `allowed` and `credential`.
 */
export async function admit(
  deps: Pick<ApiDeps, 'keyRing' | 'keyUse' | 'limiter' | 'trustedProxies'>,
  request: IncomingMessage,
  requestId: string,
  idempotentPath: string | null,
): Promise<Admittance> {
  const apiKey = BEARER.exec(request.headers.authorization ?? '')?.[1]
  const found = apiKey === undefined ? null : await deps.keyRing.find(apiKey)
  const marker = found === null ? null : markerOf(request, requestId, idempotentPath, found)
  const admission = await deps.limiter.admit({
    bucket: found === null ? addressBucket(deps, request) : `key:${found.key.id}`,
    keyId: found?.key.id ?? null,
    workspaceId: found?.workspace.id ?? null,
    publish: {
      keyEpoch: found?.fresh.key ? found.key.epoch : null,
      workspaceEpoch: found?.fresh.workspace ? found.workspace.epoch : null,
    },
    marker,
  })
  const held = admission.marker === 'set' || admission.marker === 'unknown' ? marker : null
  const credential = found === null || !admission.allowed ? null : await confirm(deps, found, admission, held)
  if (credential !== null) deps.keyUse.note(credential.key)
  return { credential, admission, marker: held }
}

/** A store that fails here must not leave the operation marked as running: nobody else clears the mark. */
async function confirm(
  { keyRing, limiter }: Pick<ApiDeps, 'keyRing' | 'limiter'>,
  found: Credential,
  admission: Admission,
  held: Admittance['marker'],
): Promise<Credential | null> {
  try {
    return await keyRing.confirm(found, admission)
  } catch (error) {
    if (held !== null) limiter.clearMarker(held)
    throw error
  }
}

/** Throws the refusal of an admission: `RATE_LIMITED` first, so that a flood does not learn whether its key is valid. */
function requireAdmission(admitted: Admittance): Credential {
  if (!admitted.admission.allowed) throw new PaymeshError('RATE_LIMITED')
  if (admitted.credential === null) throw new PaymeshError('UNAUTHENTICATED')
  return admitted.credential
}

function markerOf(request: IncomingMessage, owner: string, path: string | null, { key }: Credential) {
  const header = request.headers['idempotency-key']
  if (path === null || typeof header !== 'string' || !isIdempotencyKey(header)) return null
  const id = idempotencyScope({ workspaceId: key.workspaceId, mode: key.mode, method: 'POST', path, key: header })
  return { id, owner }
}

/** The bucket of a client without a key: an IPv4 address, or the /64 of one IPv6 customer. */
function addressBucket({ trustedProxies }: Pick<ApiDeps, 'trustedProxies'>, request: IncomingMessage): string {
  return `ip:${addressGroup(clientAddress(request, trustedProxies))}`
}
