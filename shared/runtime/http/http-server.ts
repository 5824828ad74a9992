import type { IncomingMessage, Server, ServerOptions, ServerResponse } from 'node:http'
import { isIP, isIPv6, Server as NetServer } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import compression from 'compression'
import type { Metrics } from '#shared/ports/runtime.ts'

/**
 * The client address of a request. Behind `trustedHops` proxies, it is the address seen by the outermost of them: the
 * entry that far from the end of `X-Forwarded-For`. Without proxies, the header is untrusted and ignored.
 */
export function clientAddress(request: Pick<IncomingMessage, 'headers' | 'socket'>, trustedHops: number): string {
  const direct = (request.socket.remoteAddress ?? 'unknown').replace(/^::ffff:/, '')
  if (trustedHops === 0) return direct
  const header = request.headers['x-forwarded-for']
  const seen = (Array.isArray(header) ? header.join(',') : (header ?? '')).split(',').map((text) => text.trim())
  const address = seen.at(-trustedHops)?.replace(/^::ffff:/, '') ?? ''
  return isIP(address) === 0 ? direct : address
}

/** Clients with the same group share a limit: an IPv4 address, or the /64 of one IPv6 customer. */
export function addressGroup(address: string): string {
  if (!isIPv6(address)) return address
  const [head = '', tail] = address.split('%')[0]?.split('::') ?? []
  const groups = head === '' ? [] : head.split(':')
  const missing = tail === undefined ? 0 : 8 - groups.length - (tail === '' ? 0 : tail.split(':').length)
  return [...groups, ...Array<string>(Math.max(0, missing)).fill('0')].slice(0, 4).join(':')
}

/** Fields that Express sets on a routed request. */
interface RoutedRequest extends IncomingMessage {
  readonly baseUrl?: string
  readonly route?: { readonly path?: unknown }
}

/**
 * Counts and times every request of a server under its route template; unrouted requests count as `other` with a prefix, so that
 * clients cannot create labels. Live streams are left out: they last as long as a viewer. A request whose client
 * disconnected has status `aborted`.
 */
export function observeRequests(server: Server, metrics: Metrics, other: readonly `/${string}`[] = []): void {
  server.prependListener('request', (request: RoutedRequest, response) => {
    const startedAt = performance.now()
    response.once('close', () => {
      if (String(response.getHeader('content-type') ?? '').startsWith('text/event-stream')) return
      const operation = `${request.method} ${templateOf(request, other)}`
      const status = response.writableFinished ? String(response.statusCode) : 'aborted'
      metrics.observe('http_request_seconds', (performance.now() - startedAt) / 1_000, { operation, status })
    })
  })
}

function templateOf(request: RoutedRequest, prefixes: readonly string[]): string {
  if (typeof request.route?.path === 'string') return `${request.baseUrl ?? ''}${request.route.path}`
  const url = request.url ?? ''
  return prefixes.find((prefix) => url.startsWith(prefix)) ?? 'other'
}

/**
 * Compresses responses of at least `thresholdBytes` with Brotli or gzip, as the client accepts them. Responses that are already
 * encoded, responses to HEAD and `Cache-Control: no-transform` stay as they are. Streams of server-sent events do too: a compressor
 * holds back an event until its window is full. For responses of few pieces: each wait for `drain` leaves a listener behind.
 */
export function compressAnswers(thresholdBytes: number): ReturnType<typeof compression> {
  return compression({
    threshold: thresholdBytes,
    filter: (request, response) => !isEventStream(request, response) && compression.filter(request, response),
  })
}

function isEventStream(request: IncomingMessage, response: ServerResponse): boolean {
  const type = response.getHeader('content-type')
  const isRequested = request.headers.accept?.includes('text/event-stream') === true
  return isRequested || String(type).startsWith('text/event-stream')
}

/** How long an idle connection may still bring a request before it is closed. */
const IDLE_GRACE_MS = 1_000
const POLL_EVERY_MS = 50

/**
 * Prepares a server for an end that loses no request. `server.close()` alone closes idle connections at once, on which a request may be
 * on its way, and lets a busy client go on with its connection until the process ends in the middle of a response. A response with
 * `Connection: close` tells the client to use another one (RFC 9112 §9.6). Call it before the server listens.
 */
export function prepareDrain(server: Server) {
  const answering = new Set<ServerResponse>()
  let isClosing = false
  server.prependListener('request', (_request, response) => {
    if (isClosing) response.shouldKeepAlive = false
    answering.add(response)
    response.once('close', () => answering.delete(response))
  })
  return {
    /**
     * Takes no new connection, answers every request that arrives on an open one with `Connection: close`, and closes connections that
     * stay idle for a second. Resolves when none is left. What is still open after `cutAfterMs` is cut; null never cuts.
     */
    close: async ({ cutAfterMs }: { readonly cutAfterMs: number | null }): Promise<void> => {
      isClosing = true
      for (const response of answering) if (!response.headersSent) response.shouldKeepAlive = false
      let isClosed = false
      // The HTTP server's own `close` would close idle connections now.
      const closed = new Promise<void>((resolve) => NetServer.prototype.close.call(server, () => resolve())).then(
        () => {
          isClosed = true
        },
      )
      const cut = cutAfterMs === null ? undefined : setTimeout(() => server.closeAllConnections(), cutAfterMs)
      await Promise.race([closed, delay(IDLE_GRACE_MS)])
      // A response that had begun before keeps its connection, which is idle after it.
      for (; !isClosed; await Promise.race([closed, delay(POLL_EVERY_MS)])) server.closeIdleConnections()
      clearTimeout(cut)
    },
  }
}

/** A client gets this long to send a whole request. */
const REQUEST_TIMEOUT_MS = 30_000
const HEADERS_TIMEOUT_MS = 10_000
/** Above the usual 60 s of load balancers, so that they close idle connections first. */
const KEEP_ALIVE_MS = 65_000

/** For `http.createServer`: the check interval of the limits, in milliseconds; 30 s by default in Node. */
export const REQUEST_LIMIT_OPTIONS: Pick<ServerOptions, 'connectionsCheckingInterval'> = {
  connectionsCheckingInterval: 2_000,
}

/** Limits how long a client may take to send a request: 10 s for its headers, 30 s in all. Responses may stream for longer. */
export function limitRequests(server: Server): void {
  server.requestTimeout = REQUEST_TIMEOUT_MS
  server.headersTimeout = HEADERS_TIMEOUT_MS
  server.keepAliveTimeout = KEEP_ALIVE_MS
}
