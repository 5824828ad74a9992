import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import type { Socket } from 'node:net'
import { Agent, type Dispatcher } from 'undici'
import { errorCauses } from '#shared/contracts/error-text.ts'
import type { HttpFault, HttpOut, HttpPhases, HttpPost, HttpResult } from '#shared/ports/webhook-http.ts'
import {
  BlockedAddress,
  type ConnectionFacts,
  createEgressConnector,
  isPublicAddress,
  localhostOnly,
  NameNotResolved,
} from './egress-connector.ts'
import { createResolver, type ResolveAll } from './egress-resolver.ts'
import { type EgressTarget, type EgressUrl, parseEgressUrl } from './egress-url.ts'

export interface WebhookHttpOptions {
  /** Name look-up, repeated for every connection; the system's DNS servers by default. */
  readonly resolve?: ResolveAll
  /** Which addresses may be called; `isPublicAddress` except in tests of TLS on the loopback interface. */
  readonly isAllowed?: (address: string) => boolean
  /** Extra certificate authority (PEM), for tests. */
  readonly ca?: string
}

/** An `HttpOut` that can be closed. */
export interface WebhookHttp extends HttpOut {
  /** Ends every request in flight with the fault `stopped` and closes all connections. */
  close(): Promise<void>
}

const CONNECT_TIMEOUT_MS = 10_000
/** A guarded address is reused for at most this long; then a new connection looks the name up again. */
const CONNECTION_LIFE_MS = 60_000
const IDLE_MS = 4_000
const IDLE_MAX_MS = 30_000
const HEADER_BYTES_MAX = 16_384
/**
 * All that a receiver may send in answer to one request, in bytes on the wire: a head, the part of a body that is read, and what one read
 * brings beyond it. Nothing else counts 1xx answers, extensions of chunks, and empty lines, which may go on without an end.
 */
const ANSWER_BYTES_MAX = 262_144

/** HTTP client for URLs chosen by merchants: guarded at connect, one total deadline, no redirects, no proxies from the environment. */
export function createWebhookHttp(options: WebhookHttpOptions = {}): WebhookHttp {
  const log = createConnectionLog()
  const agent = (guard: { resolve: ResolveAll; isAllowed: (address: string) => boolean }): Agent =>
    new Agent({
      connect: createEgressConnector({
        ...guard,
        connectTimeoutMs: CONNECT_TIMEOUT_MS,
        onConnected: log.connected,
        ca: options.ca,
      }),
      // No limit here: many endpoints may share a host, and a hanging one must not use up the connections of the others.
      // The caller limits its requests in flight by endpoint and in total.
      connections: null,
      pipelining: 1,
      clientTtl: CONNECTION_LIFE_MS,
      keepAliveTimeout: IDLE_MS,
      keepAliveMaxTimeout: IDLE_MAX_MS,
      maxHeaderSize: HEADER_BYTES_MAX,
    })
  const outside = agent({
    resolve: options.resolve ?? createResolver(),
    isAllowed: options.isAllowed ?? isPublicAddress,
  })
  const inside = agent(localhostOnly)
  const parse = createUrlParser()
  /** Aborts each request in flight. */
  const inFlight = new Set<() => void>()
  let closed = false
  return {
    post: async (request) => {
      const parsed = parse(request.url, request.allowLocalhost)
      if (!parsed.ok) return refused(parsed.reason === 'address_not_public' ? 'blocked_address' : 'bad_url')
      if (closed) return refused('stopped')
      return exchange(parsed.target.localhost ? inside : outside, parsed.target, request, { log, inFlight })
    },
    close: async () => {
      closed = true
      for (const stop of inFlight) stop()
      await Promise.all([outside.destroy(), inside.destroy()])
      log.close()
    },
  }
}

const PARSED_MAX = 1_000

/** Caches the results for recent URLs: a busy endpoint is checked about a hundred times a second. */
function createUrlParser(): (url: string, allowLocalhost: boolean) => EgressUrl {
  const known = new Map<string, EgressUrl>()
  return (url, allowLocalhost) => {
    const key = `${allowLocalhost} ${url}`
    const found = known.get(key)
    if (found !== undefined) return found
    if (known.size >= PARSED_MAX) known.clear()
    const parsed = parseEgressUrl(url, { allowLocalhost })
    known.set(key, parsed)
    return parsed
  }
}

/** undici's `dispatch` instead of `request`: a stream and two signals for each response cost as much as everything else. */
function exchange(
  dispatcher: Dispatcher,
  target: EgressTarget,
  request: HttpPost,
  { log, inFlight }: { readonly log: ConnectionLog; readonly inFlight: Set<() => void> },
): Promise<HttpResult> {
  // The connection log identifies a request by its body object, so each request needs its own (same bytes, no copy).
  const body = Buffer.from(request.body.buffer, request.body.byteOffset, request.body.byteLength)
  const startedAt = performance.now()
  const answer = createBoundedText(request.maxResponseBytes)
  let controller: Dispatcher.DispatchController | null = null
  let firstByteAt: number | null = null
  let status = 0
  let over = false
  return new Promise((resolve) => {
    const end = (fault: HttpFault | null): void => {
      if (over) return
      over = true
      clearTimeout(timer)
      inFlight.delete(stop)
      const facts = { ...carrier(log, body, firstByteAt), durationMs: performance.now() - startedAt }
      resolve(
        fault === null
          ? { outcome: 'answered', status, body: answer.text(), ...facts }
          : { outcome: 'failed', error: fault, ...facts },
      )
    }
    const cutOff = (fault: HttpFault | null): void => {
      end(fault)
      // Destroys the connection. Before there is one, undici checks below and sends nothing.
      controller?.abort(new Error(fault ?? 'enough was read'))
    }
    const timer = setTimeout(cutOff, request.timeoutMs, 'timeout')
    const stop = (): void => cutOff('stopped')
    inFlight.add(stop)
    const handler: Dispatcher.DispatchHandler = {
      onRequestStart: (started) => {
        controller = started
        if (over) started.abort(new Error('given up before it was sent'))
      },
      onResponseStart: (_controller, statusCode) => {
        firstByteAt ??= performance.now()
        status = statusCode
      },
      onResponseData: (_controller, chunk) => {
        // At most one chunk above the limit is ever read.
        if (answer.isFullWith(chunk)) cutOff(null)
      },
      onResponseEnd: () => end(null),
      onResponseError: (_controller, error) => end(httpFault(error)),
    }
    try {
      dispatcher.dispatch(requestOptions(target, request.headers, body), handler)
    } catch (error) {
      end(httpFault(error))
    }
  })
}

function requestOptions(target: EgressTarget, headers: HttpPost['headers'], body: Buffer): Dispatcher.DispatchOptions {
  const { origin, pathname, search } = new URL(target.href)
  return { origin, path: `${pathname}${search}`, method: 'POST', headers, body, headersTimeout: 0, bodyTimeout: 0 }
}

/** The first bytes of a response. */
function createBoundedText(limit: number) {
  const chunks: Uint8Array[] = []
  let length = 0
  return {
    /** Takes the part that fits; true when the limit is reached. */
    isFullWith: (chunk: Uint8Array): boolean => {
      // A copy, because a short remainder would keep the whole chunk in memory.
      if (length < limit) chunks.push(Uint8Array.prototype.slice.call(chunk, 0, limit - length))
      length += chunk.length
      return length >= limit
    },
    text: (): string => Buffer.concat(chunks).toString('utf8'),
  }
}

function carrier(
  log: ConnectionLog,
  body: Uint8Array,
  firstByteAt: number | null,
): { ip: string | null; phases: HttpPhases } {
  const carried = log.carrierOf(body)
  if (carried === null) return { ip: null, phases: { dnsMs: null, connectMs: null, tlsMs: null, firstByteMs: null } }
  const { facts, fresh, sentAt } = carried
  return {
    ip: facts.ip,
    phases: {
      dnsMs: fresh ? facts.dnsMs : null,
      connectMs: fresh ? facts.connectMs : null,
      tlsMs: fresh ? facts.tlsMs : null,
      firstByteMs: firstByteAt === null ? null : firstByteAt - sentAt,
    },
  }
}

function refused(error: 'blocked_address' | 'bad_url' | 'stopped'): HttpResult {
  const phases = { dnsMs: null, connectMs: null, tlsMs: null, firstByteMs: null }
  return { outcome: 'failed', error, ip: null, phases, durationMs: 0 }
}

/** Facts about the connection of one request. */
interface CarriedBy {
  readonly facts: ConnectionFacts
  /** True for the first request on the connection: only that one waited for look-up, connect and TLS. */
  readonly fresh: boolean
  /** `performance.now()` when the request head was written. */
  readonly sentAt: number
}

/** Records which connection carried which request; a request is identified by its body object. */
type ConnectionLog = ReturnType<typeof createConnectionLog>

const CHANNEL = 'undici:client:sendHeaders'

/**
 * undici does not expose the socket of a request; its diagnostics channel is the documented place that shows both
 * together. Nothing here holds a socket or a body alive.
 */
function createConnectionLog() {
  const factsBySocket = new WeakMap<object, ConnectionFacts>()
  /** Bytes that had come on a connection when its last request was sent. */
  const readBefore = new WeakMap<Socket, number>()
  const carriers = new WeakMap<object, CarriedBy>()
  const onSend = (message: unknown): void => {
    const { request, socket } = message as { request: { body?: unknown }; socket: Socket }
    const facts = factsBySocket.get(socket)
    if (facts === undefined || typeof request.body !== 'object' || request.body === null) return
    const fresh = !readBefore.has(socket)
    carriers.set(request.body, { facts, fresh, sentAt: performance.now() })
    readBefore.set(socket, socket.bytesRead)
    if (!fresh) return
    socket.on('readable', () => {
      if (socket.bytesRead - (readBefore.get(socket) ?? 0) > ANSWER_BYTES_MAX) socket.destroy(new AnswerTooLarge())
    })
  }
  subscribe(CHANNEL, onSend)
  return {
    connected: (socket: Socket, facts: ConnectionFacts): void => {
      factsBySocket.set(socket, facts)
    },
    carrierOf: (body: Uint8Array): CarriedBy | null => carriers.get(body) ?? null,
    close: (): void => {
      unsubscribe(CHANNEL, onSend)
    },
  }
}

class AnswerTooLarge extends Error {}

const FAULT_BY_CODE: Readonly<Record<string, HttpFault>> = {
  ECONNREFUSED: 'refused',
  ECONNRESET: 'reset',
  ECONNABORTED: 'reset',
  EPIPE: 'reset',
  UND_ERR_SOCKET: 'reset',
  EHOSTUNREACH: 'unreachable',
  ENETUNREACH: 'unreachable',
  EADDRNOTAVAIL: 'unreachable',
  ETIMEDOUT: 'timeout',
  UND_ERR_CONNECT_TIMEOUT: 'timeout',
  UND_ERR_HEADERS_TIMEOUT: 'timeout',
  UND_ERR_BODY_TIMEOUT: 'timeout',
  UND_ERR_HEADERS_OVERFLOW: 'too_large',
  UND_ERR_RES_EXCEEDED_MAX_SIZE: 'too_large',
  UND_ERR_RES_CONTENT_LENGTH_MISMATCH: 'bad_answer',
  UND_ERR_INVALID_ARG: 'bad_url',
  ERR_INVALID_URL: 'bad_url',
  EPROTO: 'tls',
}

/** OpenSSL's verification results and Node's own TLS errors carry codes of these forms. */
const TLS_CODE =
  /^(ERR_TLS_|ERR_SSL_|CERT_|CRL_|UNABLE_TO_|SELF_SIGNED_|DEPTH_ZERO_|HOSTNAME_MISMATCH|INVALID_CA|INVALID_PURPOSE)/

/** The error code for a failed request, by class and code of the error and of its causes, never by its text. */
function httpFault(error: unknown): HttpFault {
  for (const at of errorCauses(error)) {
    if (!(at instanceof Error)) continue
    if (at instanceof BlockedAddress) return 'blocked_address'
    if (at instanceof NameNotResolved) return 'dns'
    if (at instanceof AnswerTooLarge) return 'too_large'
    const code = 'code' in at && typeof at.code === 'string' ? at.code : ''
    const known = FAULT_BY_CODE[code]
    if (known !== undefined) return known
    if (TLS_CODE.test(code)) return 'tls'
    // The parser reports codes such as HPE_INVALID_CONSTANT; undici 7 often omits the code.
    if (code.startsWith('HPE_') || at.name === 'HTTPParserError')
      return code === 'HPE_HEADER_OVERFLOW' ? 'too_large' : 'bad_answer'
  }
  return 'network'
}
