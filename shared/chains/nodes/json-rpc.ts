import { randomInt } from 'node:crypto'
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
import { createWordsFilter } from './provider-words.ts'
import { type ErrorMeaning, failureOfStatus, isDenial, LATE_STATUSES, RpcDenial, RpcFailure } from './rpc-failure.ts'
import { createRpcPool, type RpcPool } from './rpc-pool.ts'

/** A node chooses the text of its errors; patterns read no more of it than this many characters. */
const MESSAGE_MAX = 1_000
const message = z.string().transform((text) => text.slice(0, MESSAGE_MAX))

/** The `id` of an error may be null or missing: the node could not read the request (JSON-RPC 2.0, section 5), or a gateway wrote it. */
const id = z.unknown()
const errorObject = z.object({ code: z.coerce.number().catch(0), message })
/** Some gateways give words alone, or the error without its envelope. */
const bareWords = z.object({ id, error: message.transform((text) => ({ code: 0, message: text })) })
const bareError = z.object({ code: z.number(), message }).transform((error) => ({ id: null, error }))
/** Beside an error in whatever form, a result is none. */
const envelope = z.union([
  z.object({ id, error: errorObject }),
  bareWords,
  bareError,
  z.object({ id, result: z.unknown(), error: z.null().optional() }),
])

type Params = readonly unknown[]

/** Calls to one node. */
export type RpcClient = ApiClient<Params>

/** One node of a pool. */
export type RpcNode = ApiNode<Params>

/** Settings of an RPC client. `urls` is not empty, the preferred first; credentials in a URL become Basic authentication. */
export interface RpcOptions extends NodeQuestions<Params> {
  readonly urls: readonly string[]
  /** Classifies an error object of a response. */
  classify(error: RpcErrorObject): ErrorMeaning
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
export function createJsonRpc(options: RpcOptions): RpcPool<RpcNode> {
  const { metrics, labels } = options
  const nodes = options.urls.map((url) =>
    createApiNode(createTransport(createHttpEndpoint(url, options), url, options), options),
  )
  return createRpcPool({ nodes, metrics, labels })
}

/** Turns responses into results, denials or classified failures. */
function createTransport(endpoint: HttpEndpoint, url: string, options: RpcOptions): Transport<Params> {
  const { host } = endpoint
  const post = poster(endpoint, createWordsFilter(new URL(url)), options)
  const isAlone = options.urls.length === 1
  return {
    host,
    request(method, params, limits) {
      const send = () => post(method, params, limits)
      return isAlone ? unlessTooFast(send, limits) : send()
    },
    close: () => endpoint.close(),
  }
}

/** How often a call is repeated that the only node refused for its rate, and the pauses before, milliseconds. */
const REPEATS = 3
const PAUSE_MS = 250
/** A longer pause than this is the whole node's: work that needs it begins again later. */
const PAUSE_MAX_MS = 2_000

/**
 * Repeats a call that was refused for its rate. Work of many calls begins again after a failure, and would fail at the same rate for ever; where
 * there is another node, that one takes over instead.
 */
async function unlessTooFast(send: () => Promise<unknown>, { timeoutMs }: CallLimits): Promise<unknown> {
  const startedAt = performance.now()
  for (let repeats = 0; ; repeats += 1) {
    try {
      return await send()
    } catch (error) {
      const isTooFast = error instanceof RpcFailure && error.kind === 'rate'
      const waitMs = Math.max(isTooFast ? (error.retryAfterMs ?? 0) : 0, PAUSE_MS * 2 ** repeats)
      const isLate = performance.now() - startedAt + waitMs >= timeoutMs
      if (!isTooFast || repeats === REPEATS || waitMs > PAUSE_MAX_MS || isLate) throw error
      await new Promise((resolve) => setTimeout(resolve, waitMs))
    }
  }
}

function poster(endpoint: HttpEndpoint, wordsOf: (text: string) => string, options: RpcOptions) {
  const { host } = endpoint
  // Begins anywhere, so that a proxy that mixes up two of our processes is noticed as well.
  let last = randomInt(2 ** 31)
  return async (method: string, params: Params, { readBody, ...limits }: CallLimits): Promise<unknown> => {
    last += 1
    const id = last
    const body = { jsonrpc: '2.0', id, method, params }
    const { status, text, retryAfterMs } = await endpoint.post({ what: method, body, ...limits })
    const call = { method, host }
    const parsed = envelope.safeParse(readBody?.(text) ?? parseJson(text))
    const named = parsed.success ? (parsed.data.id ?? null) : null
    // Providers return JSON-RPC errors with any status.
    if (parsed.success && 'result' in parsed.data) {
      if (named === id) return parsed.data.result
      // A proxy that mixes responses up would give one account the balance of another.
      throw new RpcFailure('retry', `${method} at ${host}: the response names another request`, { call })
    }
    if (!parsed.success || !('error' in parsed.data) || parsed.data.error == null) {
      const message = `${method} at ${host}: status ${status} without a JSON-RPC response${quoted(wordsOf(bareText(text)))}`
      throw new RpcFailure(failureOfStatus(status), message, { retryAfterMs, call })
    }
    const { error } = parsed.data
    const meaning = options.explain?.(error.code) ?? null
    const message = `${method} at ${host}: error ${error.code}${meaning === null ? '' : ` (${meaning})`}${quoted(wordsOf(error.message))}`
    const kind = meaningOf(error, { status, retryAfterMs }, options)
    // An error without `id` says how to wait and no more; one with another `id` is about another request.
    if (named !== id && (named !== null || isDenial(kind))) {
      throw new RpcFailure(failureOfStatus(status), message, { retryAfterMs, call })
    }
    if (isDenial(kind)) throw new RpcDenial(kind, message, call)
    throw new RpcFailure(kind, message, { retryAfterMs, rangeMax: options.rangeMax?.(error) ?? null, call })
  }
}

function meaningOf(
  error: RpcErrorObject,
  { status, retryAfterMs }: { readonly status: number; readonly retryAfterMs: number | null },
  { classify }: RpcOptions,
): ErrorMeaning {
  if (retryAfterMs !== null) return 'rate'
  return LATE_STATUSES.has(status) ? 'late' : classify(error)
}

const quoted = (words: string): string => (words === '' ? '' : `: "${words}"`)

/** The beginning of a body that is no JSON-RPC; nothing of a page for browsers. */
const bareText = (text: string): string => (/^\s*</.test(text) ? '' : text.slice(0, MESSAGE_MAX))

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}
