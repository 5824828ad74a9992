import { setMaxListeners } from 'node:events'
import { Agent, type Dispatcher } from 'undici'
import type { HttpOut, HttpPhases, HttpPost, HttpResult } from '#shared/usecases/ports/http-out.ts'
import { type ConnectionLog, createConnectionLog } from './connection-log.ts'
import { createEgressConnector, localhostOnly } from './egress-connector.ts'
import { createResolver, type ResolveAll } from './egress-resolver.ts'
import { type EgressTarget, parseEgressUrl } from './egress-url.ts'
import { httpFault } from './http-fault.ts'
import { isPublicAddress } from './public-address.ts'

export interface WebhookHttpOptions {
  /** Name look-up, made anew for every connection; the system's DNS servers by default. */
  readonly resolve?: ResolveAll
  /** Which addresses may be called; `isPublicAddress` everywhere but in tests of TLS on the loopback interface. */
  readonly isAllowed?: (address: string) => boolean
  /** Extra certificate authority (PEM), for tests. */
  readonly ca?: string
  /** Open connections to one origin. Default 32, the highest number of requests in flight to one endpoint. */
  readonly connectionsPerOrigin?: number
}

/** `HttpOut` with something to close. */
export interface WebhookHttp extends HttpOut {
  /** Ends every request in flight with the fault `stopped` and closes all connections. */
  close(): Promise<void>
}

const CONNECT_TIMEOUT_MS = 10_000
/** A guarded address is trusted for this long at most; then a new connection looks the name up again. */
const CONNECTION_LIFE_MS = 60_000
const IDLE_MS = 4_000
const IDLE_MAX_MS = 30_000

/** HTTP client for URLs that strangers chose: guarded at connect, one total deadline, no redirects, no proxies from the environment. */
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
      connections: options.connectionsPerOrigin ?? 32,
      pipelining: 1,
      clientTtl: CONNECTION_LIFE_MS,
      keepAliveTimeout: IDLE_MS,
      keepAliveMaxTimeout: IDLE_MAX_MS,
      maxHeaderSize: 16_384,
    })
  const outside = agent({
    resolve: options.resolve ?? createResolver(),
    isAllowed: options.isAllowed ?? isPublicAddress,
  })
  const inside = agent(localhostOnly)
  const stopping = new AbortController()
  // Every request in flight listens to it.
  setMaxListeners(0, stopping.signal)
  return {
    post: async (request) => {
      const parsed = parseEgressUrl(request.url, { allowLocalhost: request.allowLocalhost })
      if (!parsed.ok) return refused(parsed.reason === 'address_not_public' ? 'blocked_address' : 'bad_url')
      const dispatcher = parsed.target.localhost ? inside : outside
      return exchange(dispatcher, parsed.target, request, log, stopping.signal)
    },
    close: async () => {
      stopping.abort()
      await Promise.all([outside.destroy(), inside.destroy()])
      log.close()
    },
  }
}

async function exchange(
  dispatcher: Dispatcher,
  target: EgressTarget,
  request: HttpPost,
  log: ConnectionLog,
  stopping: AbortSignal,
): Promise<HttpResult> {
  // The connection log knows a request by its body object, so each request needs one of its own (same bytes, no copy).
  const body = Buffer.from(request.body.buffer, request.body.byteOffset, request.body.byteLength)
  const startedAt = performance.now()
  const deadline = startDeadline(request.timeoutMs, stopping)
  let firstByteAt: number | null = null
  const facts = () => ({ ...carrier(log, body, firstByteAt), durationMs: performance.now() - startedAt })
  try {
    const url = new URL(target.href)
    const answering = dispatcher.request({
      origin: url.origin,
      path: `${url.pathname}${url.search}`,
      method: 'POST',
      headers: request.headers,
      body,
      signal: deadline.signal,
      headersTimeout: 0,
      bodyTimeout: 0,
    })
    // undici looks at its signal only once it has a connection; a look-up or connect that hangs is left behind here.
    const answer = await Promise.race([answering, deadline.over])
    firstByteAt = performance.now()
    const text = await readAtMost(answer.body, request.maxResponseBytes)
    return { outcome: 'answered', status: answer.statusCode, body: text, ...facts() }
  } catch (error) {
    return { outcome: 'failed', error: deadline.fault() ?? httpFault(error), ...facts() }
  } finally {
    deadline.clear()
  }
}

/** One timer for the whole exchange, and the process's stop. `over` rejects at the first of the two. */
function startDeadline(timeoutMs: number, stopping: AbortSignal) {
  const controller = new AbortController()
  let cause: 'timeout' | 'stopped' | null = null
  let giveUp = (_reason: Error): void => undefined
  const over = new Promise<never>((_resolve, reject) => {
    giveUp = reject
  })
  // The race that watches it may be over before it rejects, or never start.
  over.catch(() => undefined)
  const end = (why: 'timeout' | 'stopped'): void => {
    cause ??= why
    controller.abort()
    giveUp(new Error(why))
  }
  const timer = setTimeout(end, timeoutMs, 'timeout')
  const stop = (): void => end('stopped')
  stopping.addEventListener('abort', stop)
  if (stopping.aborted) stop()
  return {
    signal: controller.signal,
    over,
    fault: () => cause,
    clear: () => {
      clearTimeout(timer)
      stopping.removeEventListener('abort', stop)
    },
  } as const
}

async function readAtMost(body: Dispatcher.ResponseData['body'], limit: number): Promise<string> {
  const chunks: Uint8Array[] = []
  let length = 0
  for await (const chunk of body as AsyncIterable<Uint8Array>) {
    chunks.push(chunk.subarray(0, limit - length))
    length += chunk.length
    // Leaving the loop destroys the stream and with it the connection: no more than one chunk above the limit is ever read.
    if (length >= limit) break
  }
  return Buffer.concat(chunks).toString('utf8')
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

function refused(error: 'blocked_address' | 'bad_url'): HttpResult {
  const phases = { dnsMs: null, connectMs: null, tlsMs: null, firstByteMs: null }
  return { outcome: 'failed', error, ip: null, phases, durationMs: 0 }
}
