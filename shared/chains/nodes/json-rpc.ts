import { z } from 'zod'
import {
  type ApiClient,
  type ApiNode,
  type CallLimits,
  createApiNode,
  type NodeQuestions,
  type Transport,
} from './api-node.ts'
import { createHttpEndpoint, type HttpEndpoint } from './http-endpoint.ts'
import { type FailureKind, RpcFailure } from './rpc-failure.ts'
import { createRpcPool, type RpcPool } from './rpc-pool.ts'

const envelope = z.union([
  z.object({ error: z.object({ code: z.number(), message: z.string() }) }),
  z.object({ result: z.unknown() }),
])

type Params = readonly unknown[]

/** Calls to one node, or to the node in use: each goes to the one in use until it fails, then to the next one. */
export type RpcClient = ApiClient<Params>

/** One node of a pool. */
export type RpcNode = ApiNode<Params>

/** JSON-RPC over the nodes of one network. */
export interface RpcNodes extends RpcClient {
  /** For work whose responses must not mix, and for calls to other nodes. */
  readonly pool: RpcPool<RpcNode>
}

/** Settings of an RPC client. `urls` is not empty, the preferred first; credentials in a URL become Basic authentication. */
export interface RpcOptions extends NodeQuestions<Params> {
  readonly urls: readonly string[]
  /** Classifies an error object of a response. */
  classify(error: RpcErrorObject): FailureKind
  /** Meaning of an error code for the operator of the installation; null where the code is clear. */
  explain?(code: number): string | null
  /** Most blocks that a node allows in one request; null when it does not state it. */
  rangeMax?(error: RpcErrorObject): number | null
}

/** The error of a JSON-RPC response. */
export interface RpcErrorObject {
  readonly code: number
  readonly message: string
}

/** JSON-RPC over HTTP to the nodes of one network. Opens nothing until the first call. */
export function createJsonRpc(options: RpcOptions): RpcNodes {
  const { metrics, labels } = options
  const nodes = options.urls.map((url) =>
    createApiNode(createTransport(createHttpEndpoint(url, options), options), options),
  )
  const pool = createRpcPool({ nodes, metrics, labels })
  return {
    pool,
    call: (method, params, schema, limits) =>
      pool.use((node) => node.call(method, params, schema, limits), { attempts: 1 }),
    close: () => pool.close(),
  }
}

/** Turns responses into validated results or classified failures. */
function createTransport(endpoint: HttpEndpoint, { classify, explain, rangeMax }: RpcOptions): Transport<Params> {
  const { host } = endpoint
  const post = poster(endpoint)
  return {
    host,
    async ask(method, params, schema, limits) {
      const { answer, retryAfterMs } = await post(method, params, limits)
      if ('error' in answer) {
        const { error } = answer
        const meaning = explain?.(error.code) ?? null
        const words = `error ${error.code}${meaning === null ? '' : ` (${meaning})`}`
        const details = { retryAfterMs, rangeMax: rangeMax?.(error) ?? null, call: { method, host } }
        throw new RpcFailure(
          retryAfterMs === null ? classify(error) : 'retry',
          `${method} at ${host}: ${words}`,
          details,
        )
      }
      const parsed = schema.safeParse(answer.result)
      if (!parsed.success) {
        throw new RpcFailure('retry', `${method} at ${host}: malformed result`, {
          cause: parsed.error,
          call: { method, host },
        })
      }
      return parsed.data
    },
    close: () => endpoint.close(),
  }
}

interface Answer {
  readonly answer: z.infer<typeof envelope>
  /** Pause that the node requested; null without one. */
  readonly retryAfterMs: number | null
}

function poster(endpoint: HttpEndpoint) {
  let id = 0
  return async (method: string, params: Params, limits: CallLimits): Promise<Answer> => {
    id += 1
    const body = { jsonrpc: '2.0', id, method, params }
    const { status, text, retryAfterMs } = await endpoint.post({ what: method, body, ...limits })
    const parsed = envelope.safeParse(parseJson(text))
    // Providers return JSON-RPC errors with any status.
    if (parsed.success) return { answer: parsed.data, retryAfterMs }
    const kind = status === 413 ? 'split' : 'retry'
    throw new RpcFailure(kind, `${method} at ${endpoint.host}: status ${status} without a JSON-RPC response`, {
      retryAfterMs,
      call: { method, host: endpoint.host },
    })
  }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}
