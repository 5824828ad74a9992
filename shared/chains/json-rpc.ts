import { type Dispatcher, errors, Pool } from 'undici'
import { z } from 'zod'
import type { Metrics } from '#shared/usecases/ports/runtime.ts'
import type { PoolNode } from './pool-node.ts'
import { type FailureKind, RpcFailure } from './rpc-failure.ts'
import { createRpcPool, type RpcPool } from './rpc-pool.ts'

/** One total deadline per call, milliseconds, unless the caller names another. */
const TIMEOUT_MS = 10_000
/** Weight of the newest answer in the moving average of latency. */
const LATENCY_WEIGHT = 0.2
const BODY_MAX_BYTES = 64 * 2 ** 20
/** Calls at the same time to one node. */
const CONNECTIONS = 8
/** Pause after status 429 that names none. */
const RETRY_AFTER_DEFAULT_MS = 1_000
/** How often the identity of the node in use is asked again: another node may come up behind the same URL. */
const IDENTITY_MS = 60_000

const envelope = z.union([
  z.object({ error: z.object({ code: z.number(), message: z.string() }) }),
  z.object({ result: z.unknown() }),
])

/** Calls to one node, or to the node in use. */
export interface RpcClient {
  /**
   * The validated result of one call. Each call goes to the node in use until it fails, then the next one is used. Throws
   * `RpcFailure`, and `NodeMismatch` when the node in use is on another chain.
   */
  call<T>(method: string, params: readonly unknown[], schema: z.ZodType<T>, timeoutMs?: number): Promise<T>
  close(): Promise<void>
}

/** One node of a pool. */
export interface RpcNode extends PoolNode, RpcClient {}

/** JSON-RPC over the nodes of one network. */
export interface RpcNodes extends RpcClient {
  /** For work whose answers must not mix, and for questions to a second node. */
  readonly pool: RpcPool<RpcNode>
}

/** What an RPC client needs. `urls` is not empty, the preferred first; credentials in a URL become Basic authentication. */
export interface RpcOptions {
  readonly urls: readonly string[]
  /** Asks a node for its chain and throws `NodeMismatch` when that is not ours. */
  identify(call: RpcClient['call'], host: string): Promise<void>
  /** Classes an error object of an answer. */
  classify(error: RpcErrorObject): FailureKind
  /** What an error code means for whoever runs the installation; null where the code alone says it. */
  explain?(code: number): string | null
  /** Most blocks that a node says one request may span; null when it does not say. */
  rangeMax?(error: RpcErrorObject): number | null
  /** Height of a node's newest block. Without it no node is left out for lagging. */
  headHeight?(call: RpcClient['call']): Promise<number>
  /** Hash of a node's block; null when it has none. Without it nodes are not compared. */
  hashAt?(call: RpcClient['call'], height: number): Promise<string | null>
  readonly metrics: Metrics
  readonly labels: Readonly<Record<string, string>>
}

/** The error of a JSON-RPC answer. */
export interface RpcErrorObject {
  readonly code: number
  readonly message: string
}

/** JSON-RPC over HTTP to the nodes of one network. Opens nothing until the first call. */
export function createJsonRpc(options: RpcOptions): RpcNodes {
  const { metrics, labels } = options
  const nodes = options.urls.map((url) => createNode(url, options))
  const pool = createRpcPool({ nodes, metrics, labels })
  return {
    pool,
    call: (method, params, schema, timeoutMs) =>
      pool.use((node) => node.call(method, params, schema, timeoutMs), { attempts: 1 }),
    close: () => pool.close(),
  }
}

type Call = RpcClient['call']

function createNode(text: string, options: RpcOptions): RpcNode {
  const { headHeight, hashAt, metrics } = options
  const url = new URL(text)
  const connections = new Pool(url.origin, { connections: CONNECTIONS, maxResponseSize: BODY_MAX_BYTES })
  const ask = questioner(poster(connections, url), url.host, options)
  const labels = { ...options.labels, provider: url.host }
  let latencyMs = 0
  let identifiedAt = Number.NEGATIVE_INFINITY
  let identifying: Promise<void> | null = null

  const call: Call = async (method, params, schema, timeoutMs = TIMEOUT_MS) => {
    const startedAt = performance.now()
    let outcome = 'ok'
    try {
      return await ask(method, params, schema, timeoutMs)
    } catch (error) {
      outcome = error instanceof RpcFailure ? error.kind : 'retry'
      // A range that is too wide, or a thing that does not exist, says nothing against the node.
      if (outcome !== 'split' && outcome !== 'absent') identifiedAt = Number.NEGATIVE_INFINITY
      throw error
    } finally {
      const tookMs = performance.now() - startedAt
      latencyMs = latencyMs === 0 ? tookMs : latencyMs + (tookMs - latencyMs) * LATENCY_WEIGHT
      metrics.count('scanner_rpc_total', { ...labels, method, outcome })
      metrics.observe('scanner_rpc_seconds', tookMs / 1_000, { ...labels, method })
    }
  }

  async function identify(): Promise<void> {
    await options.identify(call, url.host)
    identifiedAt = performance.now()
  }

  return {
    host: url.host,
    get latencyMs() {
      return latencyMs
    },
    call,
    async identify() {
      if (performance.now() - identifiedAt < IDENTITY_MS) return
      identifying ??= identify().finally(() => {
        identifying = null
      })
      await identifying
    },
    headHeight: async () => headHeight?.(call) ?? Number.MAX_SAFE_INTEGER,
    hashAt: async (height) => hashAt?.(call, height) ?? null,
    close: () => connections.close(),
  }
}

/** Turns answers into validated results or classed failures. */
function questioner(post: Post, host: string, { classify, explain, rangeMax }: RpcOptions) {
  return async <T>(method: string, params: readonly unknown[], schema: z.ZodType<T>, timeoutMs: number): Promise<T> => {
    const { answer, retryAfterMs } = await post(method, params, timeoutMs)
    if ('error' in answer) {
      const { error } = answer
      const meaning = explain?.(error.code) ?? null
      const words = `error ${error.code}${meaning === null ? '' : ` (${meaning})`}`
      const details = { retryAfterMs, rangeMax: rangeMax?.(error) ?? null }
      throw new RpcFailure(retryAfterMs === null ? classify(error) : 'retry', `${method} at ${host}: ${words}`, details)
    }
    const parsed = schema.safeParse(answer.result)
    if (!parsed.success) {
      throw new RpcFailure('retry', `${method} at ${host}: malformed result`, { cause: parsed.error })
    }
    return parsed.data
  }
}

interface Answer {
  readonly answer: z.infer<typeof envelope>
  /** How long the node asked to be left alone; null when it did not. */
  readonly retryAfterMs: number | null
}
type Post = (method: string, params: readonly unknown[], timeoutMs: number) => Promise<Answer>

function poster(pool: Pool, url: URL): Post {
  const headers: Record<string, string> = { 'content-type': 'application/json' }
  if (url.username !== '') {
    const credentials = `${decodeURIComponent(url.username)}:${decodeURIComponent(url.password)}`
    headers['authorization'] = `Basic ${Buffer.from(credentials).toString('base64')}`
  }
  const path = `${url.pathname}${url.search}`
  let id = 0
  return async (method, params, timeoutMs) => {
    id += 1
    const body = JSON.stringify({ jsonrpc: '2.0', id, method, params })
    let text: string
    let response: Dispatcher.ResponseData
    try {
      const signal = AbortSignal.timeout(timeoutMs)
      response = await pool.request({ method: 'POST', path, headers, body, signal })
      text = await response.body.text()
    } catch (error) {
      const kind = error instanceof errors.ResponseExceededMaxSizeError ? 'split' : 'retry'
      // The cause may quote the URL with its secrets: only its name travels.
      throw new RpcFailure(kind, `${method} at ${url.host}: ${error instanceof Error ? error.name : 'failed'}`)
    }
    const { statusCode } = response
    const retryAfterMs = statusCode === 429 ? parseRetryAfter(response.headers['retry-after'], Date.now()) : null
    const parsed = envelope.safeParse(parseJson(text))
    // Providers put JSON-RPC errors into answers of any status.
    if (parsed.success) return { answer: parsed.data, retryAfterMs }
    const kind = statusCode === 413 ? 'split' : 'retry'
    const message = `${method} at ${url.host}: status ${statusCode} without a JSON-RPC answer`
    throw new RpcFailure(kind, message, { retryAfterMs })
  }
}

/** Milliseconds that a Retry-After header asks for, as seconds or as a date (RFC 9110, section 10.2.3); a second without one. */
function parseRetryAfter(header: string | string[] | undefined, now: number): number {
  const text = typeof header === 'string' ? header.trim() : ''
  if (/^\d+$/.test(text)) return Number(text) * 1_000
  const at = Date.parse(text)
  return Number.isNaN(at) ? RETRY_AFTER_DEFAULT_MS : Math.max(0, at - now)
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}
