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

/** A node chooses the text of its errors; patterns read no more of it than this many characters. */
const MESSAGE_MAX = 1_000
const message = z.string().transform((text) => text.slice(0, MESSAGE_MAX))

const envelope = z.union([
  z.object({ error: z.object({ code: z.number(), message }) }),
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
function createTransport(endpoint: HttpEndpoint, { urls, classify, explain, rangeMax }: RpcOptions): Transport<Params> {
  const { host } = endpoint
  const post = poster(endpoint)
  const isAlone = urls.length === 1
  return {
    host,
    async ask(method, params, schema, limits) {
      const ask = () => post(method, params, limits)
      const { answer, retryAfterMs } = isAlone ? await unlessTooFast(ask, classify, limits) : await ask()
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

/** How often a call is repeated that the only node refused for its rate, and the pauses before, milliseconds. */
const REPEATS = 3
const PAUSE_MS = 250
/** A longer pause than this is the whole node's: work that needs it begins again later. */
const PAUSE_MAX_MS = 2_000
/** "Limit exceeded", EIP-1474; 429 as Alchemy repeats its status. */
const RATE_CODES = new Set([-32_005, 429])

/**
 * Repeats a call that was refused for its rate. Work of many calls begins again after a failure, and would fail at the same rate for ever; where
 * there is another node, that one takes over instead.
 */
async function unlessTooFast(
  ask: () => Promise<Answer>,
  classify: RpcOptions['classify'],
  { timeoutMs }: CallLimits,
): Promise<Answer> {
  const startedAt = performance.now()
  for (let repeats = 0; ; repeats += 1) {
    const outcome = await ask().catch((error: unknown) => error)
    const pauseMs = repeats < REPEATS ? askedPause(outcome, classify) : null
    const waitMs = Math.max(pauseMs ?? 0, PAUSE_MS * 2 ** repeats)
    const isRepeated = pauseMs !== null && waitMs <= PAUSE_MAX_MS && performance.now() - startedAt + waitMs < timeoutMs
    if (!isRepeated) {
      if (isAnswer(outcome)) return outcome
      throw outcome
    }
    await new Promise((resolve) => setTimeout(resolve, waitMs))
  }
}

const isAnswer = (outcome: unknown): outcome is Answer =>
  typeof outcome === 'object' && outcome !== null && 'answer' in outcome

/** The pause that a node asked for when it refused a call for its rate; null when it did not. */
function askedPause(outcome: unknown, classify: RpcOptions['classify']): number | null {
  if (outcome instanceof RpcFailure) return outcome.retryAfterMs
  if (!isAnswer(outcome) || !('error' in outcome.answer)) return null
  const { error } = outcome.answer
  // The same code also stands for a response that would be too long.
  return outcome.retryAfterMs ?? (RATE_CODES.has(error.code) && classify(error) === 'retry' ? 0 : null)
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
