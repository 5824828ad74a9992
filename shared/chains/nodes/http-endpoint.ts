import { type Dispatcher, errors, Pool } from 'undici'
import { errorCauses, errorCode } from '#shared/contracts/error-text.ts'
import { countValues, hasLongName, NAME_MAX, VALUES_MAX } from '#shared/contracts/value-count.ts'
import { providerOf } from '#shared/domain/nodes/providers.ts'
import type { Metrics } from '#shared/ports/runtime.ts'
import { boundEnvelope, ENVELOPE_MAX_BYTES, EnvelopeTooLarge } from './bound-envelope.ts'
import { createByteGate, type Holding } from './byte-gate.ts'
import { type FailureKind, RpcFailure } from './rpc-failure.ts'

const BODY_MAX_BYTES = 64 * 2 ** 20
/** Text of all responses that this process holds at one time; parsed, it takes about five times as much. */
const HELD_MAX_BYTES = 16 * 2 ** 20
/** Expected size of a response that was not expected to be large and has no stated length. */
const UNKNOWN_BYTES = 4 * 2 ** 20
/** Share of the expectation that remains after a smaller response. */
const EXPECTED_DECAY = 0.75
/** How often the pace of a response is measured, milliseconds. */
const PACE_MS = 1_000
/** A measurement this late, milliseconds, is of our own process, which read nothing meanwhile. */
const BUSY_MS = 250
/** Concurrent calls to one node. */
const CONNECTIONS = 8
/** Pause after a status 429 without a stated pause. */
const RETRY_AFTER_DEFAULT_MS = 1_000

/** Names of errors of a deadline that passed (`AbortSignal.timeout`, undici). */
const LATE_ERRORS = new Set(['TimeoutError', 'HeadersTimeoutError', 'BodyTimeoutError'])

/** Why there is no connection at all, by the code of Node's or undici's error: the node can be asked nothing. */
const NO_CONNECTION: ReadonlyMap<string, string> = new Map([
  ['ECONNREFUSED', 'refused the connection'],
  ['ENOTFOUND', 'the host name is unknown'],
  ['EAI_AGAIN', 'the host name cannot be resolved now'],
  ['EHOSTUNREACH', 'the host cannot be reached'],
  ['ENETUNREACH', 'the network of the host cannot be reached'],
  ['ETIMEDOUT', 'the connection timed out'],
  ['UND_ERR_CONNECT_TIMEOUT', 'the connection timed out'],
  ['DEPTH_ZERO_SELF_SIGNED_CERT', 'its certificate is not trusted'],
  ['SELF_SIGNED_CERT_IN_CHAIN', 'its certificate is not trusted'],
  ['UNABLE_TO_VERIFY_LEAF_SIGNATURE', 'its certificate is not trusted'],
  ['CERT_HAS_EXPIRED', 'its certificate has expired'],
  ['ERR_TLS_CERT_ALTNAME_INVALID', 'its certificate is for another host'],
])

/** How a connection ended; a node, or what is before it, also ends one over an answer that it cannot give. */
const CONNECTION_ENDS: ReadonlyMap<string, string> = new Map([
  ['ECONNRESET', 'closed the connection'],
  ['UND_ERR_SOCKET', 'closed the connection'],
  ['EPIPE', 'closed the connection'],
])

/** Where the calls of an endpoint are counted; `labels` name its network and mode. */
export interface EndpointMetrics {
  readonly metrics: Metrics
  readonly labels: Readonly<Record<string, string>>
}

/** One POST to a node: one call. */
export interface HttpQuestion {
  /** Name of the call, for messages, and the method under which it is counted. */
  readonly what: string
  /** Appended to the path of the node's URL; starts with a slash. */
  readonly path?: string
  readonly body: unknown
  /** One total deadline, milliseconds. */
  readonly timeoutMs: number
  /** Most bytes of the response, at most 64 MB; a larger one, or one of more JSON values than `VALUES_MAX`, is cut off. */
  readonly maxBytes?: number
}

/** A node's response, with any status. */
export interface HttpAnswer {
  readonly status: number
  readonly text: string
  /** Pause requested by status 429, milliseconds; null without one. */
  readonly retryAfterMs: number | null
}

/** A node's URL and the connections to it. */
export interface HttpEndpoint {
  /** Host and port of the URL. */
  readonly host: string
  /** Throws `RpcFailure` without a response; no message contains path, query or user info of the URL. */
  post(question: HttpQuestion): Promise<HttpAnswer>
  close(): Promise<void>
}

/** One gate for all nodes of all networks: they share the memory of the process. */
const gate = createByteGate(HELD_MAX_BYTES)

/**
 * JSON over HTTP to one node; every transport of every family ends here, so this is where calls are counted. Opens nothing until
 * the first call. Calls with large responses wait for each other, over all nodes, before their deadline begins: callers
 * reduce an answer to what they need of it before they await anything else. A response that comes too
 * slowly to be whole at its deadline gives way to others. HTTP/2 is not offered: it bounds neither what a node sends beside its
 * responses, nor what it sends without a request. `credentials` makes headers of the URL's user info, which is never part of a
 * request line; by default it becomes Basic authentication.
 */
export function createHttpEndpoint(
  text: string,
  counted: EndpointMetrics,
  credentials: (url: URL) => Readonly<Record<string, string>> = basicAuthentication,
): HttpEndpoint {
  const url = new URL(text)
  const count = createCallMeter(url.host, counted)
  const pool = new Pool(url.origin, { connections: CONNECTIONS, maxResponseSize: BODY_MAX_BYTES, allowH2: false })
  const headers = { 'content-type': 'application/json', ...credentials(url) }
  const base = { method: 'POST', headers } as const
  const expected = createExpectation()
  return {
    host: url.host,
    async post({ what, path, body, timeoutMs, maxBytes = BODY_MAX_BYTES }) {
      const prefix = path === undefined ? url.pathname : `${url.pathname.replace(/\/$/, '')}${path}`
      const holding = await gate.enter(expected.of(what))
      const exchanged = { requestBytes: 0, responseBytes: 0 }
      const deadline = createDeadline(timeoutMs)
      const pace = watchPace({ holding, exchanged, deadline })
      try {
        const sent = Buffer.from(JSON.stringify(body))
        exchanged.requestBytes = sent.length
        boundEnvelope(sent, exchanged)
        const response = await pool.request({
          ...base,
          path: `${prefix}${url.search}`,
          body: sent,
          signal: deadline.signal,
          // One deadline: by default a pool waits 300 s for a silent node, whatever the caller allows.
          headersTimeout: timeoutMs,
          bodyTimeout: timeoutMs,
        })
        const announced = Number(response.headers['content-length'] ?? 0)
        const size = announced > 0 ? Math.min(announced, maxBytes) : expected.of(what)
        // Nothing was read yet: what is not reserved waits again, instead of holding memory that others wait for.
        if (size > holding.bytes) await pace.reenter(size)
        const text = await readText(response.body, { holding, pace, maxBytes, exchanged })
        expected.learn(what, text.length)
        return { status: response.statusCode, text, retryAfterMs: pauseOf(response) }
      } catch (error) {
        throw failureOf(error, { method: what, host: url.host }, { maxBytes, timeoutMs })
      } finally {
        pace.stop()
        // What failed was asked all the same: providers bill most of it.
        if (exchanged.requestBytes > 0) count(what, exchanged)
        // The caller parses in this turn of the event loop.
        setImmediate(holding.leave)
      }
    },
    close: () => pool.close(),
  }
}

/** Counts one exchange of a method, whatever became of it, by network and provider. Never throws. */
function createCallMeter(host: string, { metrics, labels: { network = '', mode = '' } }: EndpointMetrics) {
  const provider = providerOf(host)
  return (method: string, bytes: { readonly requestBytes: number; readonly responseBytes: number }): void => {
    const key = { network, mode, provider, method }
    try {
      metrics.count('node_calls_total', key)
      metrics.count('node_request_bytes_total', key, bytes.requestBytes)
      metrics.count('node_response_bytes_total', key, bytes.responseBytes)
    } catch {
      // A figure is worth less than the call.
    }
  }
}

/** The cause may quote the URL with its secrets: only its name or code is passed on. */
function failureOf(
  error: unknown,
  call: { readonly method: string; readonly host: string },
  { maxBytes, timeoutMs }: { readonly maxBytes: number; readonly timeoutMs: number },
): RpcFailure {
  const name = error instanceof Error ? error.name : 'failed'
  const failure = (kind: FailureKind, words: string, isSilent: boolean) =>
    new RpcFailure(kind, `${call.method} at ${call.host}: ${words}`, { call, isSilent })
  if (error instanceof errors.ResponseExceededMaxSizeError || error instanceof AnswerTooLarge) {
    return failure('split', `the response has more than ${maxBytes} bytes or ${VALUES_MAX} values (${name})`, false)
  }
  const causes = errorCauses(error)
  if (causes.some((cause) => cause instanceof EnvelopeTooLarge))
    return failure('retry', `more than ${ENVELOPE_MAX_BYTES} bytes came around the response`, false)
  if (error instanceof NameTooLong)
    return failure('retry', `a name in the response has more than ${NAME_MAX} characters`, false)
  if (causes.some((cause) => cause instanceof AnswerTooSlow))
    return failure('late', `the response came too slowly for its ${timeoutMs / 1_000} s`, true)
  if (causes.some((cause) => cause instanceof Error && LATE_ERRORS.has(cause.name)))
    return failure('late', `no response within ${timeoutMs / 1_000} s`, true)
  const code = errorCode(error) ?? ''
  const away = NO_CONNECTION.get(code)
  if (away !== undefined)
    return new RpcFailure('retry', `${call.method} at ${call.host}: ${away}`, { call, isSilent: true, isAway: true })
  const words = CONNECTION_ENDS.get(code) ?? (/^[A-Z][A-Z0-9_]+$/.test(code) ? `${name} (${code})` : name)
  return failure('retry', words, true)
}

/** The response has more bytes or values than allowed. */
class AnswerTooLarge extends Error {
  override readonly name = 'AnswerTooLarge'
}

/** An object of the response has a name that nobody uses, and that takes long to compare with others. */
class NameTooLong extends Error {
  override readonly name = 'NameTooLong'
}

/** The response came too slowly for its deadline, and another one needs the memory that it uses. */
class AnswerTooSlow extends Error {
  override readonly name = 'AnswerTooSlow'
}

interface Receiving {
  readonly holding: Holding
  /** Grows with what arrives, also when reading fails. */
  readonly exchanged: { responseBytes: number }
}

interface Reading extends Receiving {
  readonly pace: Pace
  readonly maxBytes: number
}

/** When a call ends. */
interface Deadline {
  readonly signal: AbortSignal
  /** `performance.now()` of it. */
  readonly at: number
  /** Ends the call now. */
  end(reason: Error): void
}

function createDeadline(timeoutMs: number): Deadline {
  const ended = new AbortController()
  return {
    signal: AbortSignal.any([AbortSignal.timeout(timeoutMs), ended.signal]),
    at: performance.now() + timeoutMs,
    end: (reason) => ended.abort(reason),
  }
}

/** Measures how fast a response arrives. */
interface Pace {
  /** Releases the holding and waits for `bytes` like a new holder. */
  reenter(bytes: number): Promise<void>
  stop(): void
}

/**
 * Reduces what is reserved for a response to what it will have at its deadline if it goes on as in the last second. One that is reduced is
 * ended when it is in the way of another one.
 */
function watchPace({ holding, exchanged, deadline }: Receiving & { readonly deadline: Deadline }): Pace {
  let last = { at: performance.now(), bytes: 0 }
  const measure = () => {
    const now = { at: performance.now(), bytes: exchanged.responseBytes }
    const tookMs = now.at - last.at
    const likely = Math.ceil(now.bytes + (now.bytes - last.bytes) * (Math.max(0, deadline.at - now.at) / tookMs))
    last = now
    if (tookMs <= PACE_MS + BUSY_MS && likely < holding.bytes)
      holding.resizeSlow(likely, () => deadline.end(new AnswerTooSlow()))
  }
  const timer = setInterval(measure, PACE_MS)
  return {
    async reenter(bytes) {
      await holding.reenter(bytes)
      // Nothing was read while it waited.
      last = { at: performance.now(), bytes: exchanged.responseBytes }
      timer.refresh()
    },
    stop: () => clearInterval(timer),
  }
}

/** Reads a body to its end while its memory holding grows with it. Closes the connection beyond `maxBytes` and `VALUES_MAX`. */
async function readText(body: AsyncIterable<Buffer>, { holding, pace, maxBytes, exchanged }: Reading): Promise<string> {
  const chunks: Buffer[] = []
  let bytes = 0
  let values = 0
  for await (const chunk of body) {
    chunks.push(chunk)
    bytes += chunk.length
    values += countValues(chunk)
    exchanged.responseBytes = bytes
    if (bytes > maxBytes || values > VALUES_MAX) throw new AnswerTooLarge()
    if (bytes <= holding.bytes) continue
    const isSmall = holding.bytes === 0
    holding.resize(bytes)
    if (isSmall && holding.bytes > 0) await pace.reenter(UNKNOWN_BYTES)
  }
  holding.resize(bytes)
  const text = new TextDecoder().decode(Buffer.concat(chunks))
  if (hasLongName(text)) throw new NameTooLong()
  return text
}

/** Expected response size of a call: follows growth at once, and shrinking slowly. */
function createExpectation() {
  const bytes = new Map<string, number>()
  const of = (what: string) => bytes.get(what) ?? 0
  return {
    of,
    learn: (what: string, seen: number) =>
      void bytes.set(what, Math.max(seen, (bytes.get(what) ?? 0) * EXPECTED_DECAY)),
  }
}

/** The user info of a URL as an `authorization` header; nothing without a user. */
export function basicAuthentication({ username, password }: URL): Readonly<Record<string, string>> {
  if (username === '') return {}
  const pair = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`
  return { authorization: `Basic ${Buffer.from(pair).toString('base64')}` }
}

function pauseOf({ statusCode, headers }: Dispatcher.ResponseData): number | null {
  return statusCode === 429 ? parseRetryAfter(headers['retry-after'], Date.now()) : null
}

/** Milliseconds requested by a Retry-After header, as seconds or as a date (RFC 9110, section 10.2.3); a second without one. */
function parseRetryAfter(header: string | string[] | undefined, now: number): number {
  const text = typeof header === 'string' ? header.trim() : ''
  if (/^\d+$/.test(text)) return Number(text) * 1_000
  const at = Date.parse(text)
  return Number.isNaN(at) ? RETRY_AFTER_DEFAULT_MS : Math.max(0, at - now)
}
