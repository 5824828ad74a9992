import { Pool } from 'undici'
import { z } from 'zod'
import type { Metrics } from '#shared/usecases/ports/runtime.ts'
import { type FailureKind, RpcFailure } from './rpc-failure.ts'

/** One total deadline per call, milliseconds. */
const TIMEOUT_MS = 10_000
const BODY_MAX_BYTES = 64 * 2 ** 20
/** Calls at the same time to one node. */
const CONNECTIONS = 8
/** How often the identity of the node in use is asked again: another node may come up behind the same URL. */
const IDENTITY_MS = 60_000

const envelope = z.union([
  z.object({ error: z.object({ code: z.number(), message: z.string() }) }),
  z.object({ result: z.unknown() }),
])

/** JSON-RPC over the nodes of one network. */
export interface RpcClient {
  /**
   * The validated result of one call. All calls go to one node until it fails, then the next one is used, so answers
   * of one scan never mix. Throws `RpcFailure`, and `NodeMismatch` when the node in use is on another chain.
   */
  call<T>(method: string, params: readonly unknown[], schema: z.ZodType<T>): Promise<T>
  close(): Promise<void>
}

/** What an RPC client needs. `urls` is not empty, the preferred first; credentials in a URL become Basic authentication. */
export interface RpcOptions {
  readonly urls: readonly string[]
  /** Asks a node for its chain and throws `NodeMismatch` when that is not ours. */
  identify(call: RpcClient['call'], host: string): Promise<void>
  /** Classes an error object of an answer. */
  classify(error: { readonly code: number; readonly message: string }): FailureKind
  /** What an error code means for whoever runs the installation; null where the code alone says it. */
  explain?(code: number): string | null
  readonly metrics: Metrics
  readonly labels: Readonly<Record<string, string>>
}

/** JSON-RPC over HTTP to one node of several. Opens nothing until the first call. */
export function createJsonRpc(options: RpcOptions): RpcClient {
  const nodes = options.urls.map((url) => createNode(url, options))
  let current = 0

  return {
    async call(method, params, schema) {
      const node = nodes[current]
      if (node === undefined) throw new RpcFailure('refused', 'no node is configured')
      try {
        await node.identify()
        return await node.call(method, params, schema)
      } catch (error) {
        // Whoever fails is left alone until the others failed too.
        if (!isSound(error) && nodes[current] === node) current = (current + 1) % nodes.length
        throw error
      }
    },
    async close() {
      await Promise.all(nodes.map((node) => node.close()))
    },
  }
}

/** A range that is too wide, or a thing that does not exist, says nothing against the node. */
function isSound(error: unknown): boolean {
  return error instanceof RpcFailure && (error.kind === 'split' || error.kind === 'absent')
}

type Call = RpcClient['call']

interface Node {
  readonly call: Call
  /** Makes sure that the node is on our chain, by an answer at most a minute old and none after a failure. */
  identify(): Promise<void>
  close(): Promise<void>
}

function createNode(text: string, { identify: ask, classify, explain, metrics, labels }: RpcOptions): Node {
  const url = new URL(text)
  const pool = new Pool(url.origin, { connections: CONNECTIONS, maxResponseSize: BODY_MAX_BYTES })
  const post = poster(pool, url)
  let identifiedAt = Number.NEGATIVE_INFINITY
  let identifying: Promise<void> | null = null

  const call: Call = async (method, params, schema) => {
    try {
      const answer = await post(method, params)
      if ('error' in answer) {
        const meaning = explain?.(answer.error.code) ?? null
        const words = `error ${answer.error.code}${meaning === null ? '' : ` (${meaning})`}`
        throw new RpcFailure(classify(answer.error), `${method} at ${url.host}: ${words}`)
      }
      const parsed = schema.safeParse(answer.result)
      if (!parsed.success)
        throw new RpcFailure('retry', `${method} at ${url.host}: malformed result`, { cause: parsed.error })
      metrics.count('scanner_rpc_total', { ...labels, method, outcome: 'ok' })
      return parsed.data
    } catch (error) {
      const kind = error instanceof RpcFailure ? error.kind : 'retry'
      if (!isSound(error)) identifiedAt = Number.NEGATIVE_INFINITY
      metrics.count('scanner_rpc_total', { ...labels, method, outcome: kind })
      throw error
    }
  }

  async function identify(): Promise<void> {
    await ask(call, url.host)
    identifiedAt = performance.now()
  }

  return {
    call,
    async identify() {
      if (performance.now() - identifiedAt < IDENTITY_MS) return
      identifying ??= identify().finally(() => {
        identifying = null
      })
      await identifying
    },
    close: () => pool.close(),
  }
}

type Envelope = z.infer<typeof envelope>

function poster(pool: Pool, url: URL): (method: string, params: readonly unknown[]) => Promise<Envelope> {
  const headers: Record<string, string> = { 'content-type': 'application/json' }
  if (url.username !== '') {
    const credentials = `${decodeURIComponent(url.username)}:${decodeURIComponent(url.password)}`
    headers['authorization'] = `Basic ${Buffer.from(credentials).toString('base64')}`
  }
  let id = 0
  return async (method, params) => {
    id += 1
    const body = JSON.stringify({ jsonrpc: '2.0', id, method, params })
    let text: string
    let status: number
    try {
      const path = `${url.pathname}${url.search}`
      const signal = AbortSignal.timeout(TIMEOUT_MS)
      const response = await pool.request({ method: 'POST', path, headers, body, signal })
      status = response.statusCode
      text = await response.body.text()
    } catch (error) {
      // The cause may quote the URL with its secrets: only its name travels.
      throw new RpcFailure('retry', `${method} at ${url.host}: ${error instanceof Error ? error.name : 'failed'}`)
    }
    const parsed = envelope.safeParse(parseJson(text))
    // Providers put JSON-RPC errors into answers of any status.
    if (parsed.success) return parsed.data
    throw new RpcFailure('retry', `${method} at ${url.host}: status ${status} without a JSON-RPC answer`)
  }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}
