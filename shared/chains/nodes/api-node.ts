import type { z } from 'zod'
import type { Metrics } from '#shared/ports/runtime.ts'
import { PAUSE_MAX_MS } from './node-health.ts'
import type { PoolNode } from './pool-node.ts'
import { type FailureDetails, RpcDenial, RpcFailure } from './rpc-failure.ts'

/** One total deadline per call, milliseconds, unless the caller sets another. */
const TIMEOUT_MS = 10_000
/** Weight of the newest response in the moving average of latency. */
const LATENCY_WEIGHT = 0.2
/** How often the identity of the node in use is checked again: another node may start behind the same URL. */
const IDENTITY_MS = 60_000

/** Calls by method name; `P` is the form of their parameters. */
export interface ApiClient<P> {
  /** The validated result of one call. Throws `RpcFailure`, and `NodeMismatch` when the node is on another chain. */
  call<T>(method: string, params: P, schema: z.ZodType<T>, limits?: Partial<CallLimits>): Promise<T>
  close(): Promise<void>
}

/** Limits of one call. */
export interface CallLimits {
  /** One total deadline, milliseconds. */
  readonly timeoutMs: number
  /** Most bytes of the response; a larger one is cut off and fails with `split`. The transport's own limit when absent. */
  readonly maxBytes?: number
  /** Reads the text of a response that would take long to parse: its envelope with the result, or null where the usual way must. */
  readonly readBody?: (text: string) => unknown
}

/** One node of a pool that is used through calls. */
export interface ApiNode<P> extends PoolNode, ApiClient<P> {}

/** Queries to any node of a network, whatever the transport. */
export interface NodeQuestions<P> {
  /** Queries a node for its chain and throws `NodeMismatch` when that is not ours. */
  identify(call: ApiClient<P>['call'], host: string): Promise<void>
  /** Height of a node's newest block. Without it no node is skipped for lagging. */
  headHeight?(call: ApiClient<P>['call']): Promise<number>
  /** See `PoolNode.hashAt`. Without it nodes are not compared. */
  hashAt?(call: ApiClient<P>['call'], height: number): Promise<string | null>
  readonly metrics: Metrics
  readonly labels: Readonly<Record<string, string>>
}

/** How one call reaches a node. */
export interface Transport<P> {
  readonly host: string
  /** The result, not validated; throws `RpcFailure`. */
  request(method: string, params: P, limits: CallLimits): Promise<unknown>
  close(): Promise<void>
}

/**
 * A node behind a transport: its calls are timed and counted, and its chain is checked once a minute and after failures. While it has asked for a
 * pause, calls of work that goes on all the same fail without a request: some providers suspend for longer then.
 */
export function createApiNode<P>(transport: Transport<P>, options: NodeQuestions<P>): ApiNode<P> {
  const { headHeight, hashAt, metrics } = options
  const { host } = transport
  const labels = { ...options.labels, provider: host }
  let latencyMs = 0
  let identifiedAt = Number.NEGATIVE_INFINITY
  let identifying: Promise<void> | null = null
  let paused: { readonly until: number; readonly message: string } | null = null

  const call: ApiClient<P>['call'] = async (method, params, schema, limits = {}) => {
    const startedAt = performance.now()
    const retryAfterMs = (paused?.until ?? 0) - startedAt
    if (paused !== null && retryAfterMs > 0) {
      throw new RpcFailure('rate', paused.message, { retryAfterMs, call: { method, host } })
    }
    let outcome = 'ok'
    try {
      const result = await transport.request(method, params, { timeoutMs: TIMEOUT_MS, ...limits })
      return validated(schema, result, { method, host })
    } catch (error) {
      outcome = error instanceof RpcFailure || error instanceof RpcDenial ? error.kind : 'retry'
      if (error instanceof RpcFailure && error.retryAfterMs !== null) {
        paused = { until: performance.now() + Math.min(error.retryAfterMs, PAUSE_MAX_MS), message: error.message }
      }
      // An answer, or a range that is too wide, is not the node's fault.
      if (outcome !== 'split' && !(error instanceof RpcDenial)) identifiedAt = Number.NEGATIVE_INFINITY
      throw error
    } finally {
      const tookMs = performance.now() - startedAt
      latencyMs = latencyMs === 0 ? tookMs : latencyMs + (tookMs - latencyMs) * LATENCY_WEIGHT
      metrics.count('scanner_rpc_total', { ...labels, method, outcome })
      metrics.observe('scanner_rpc_seconds', tookMs / 1_000, { ...labels, method })
    }
  }

  async function identify(): Promise<void> {
    await options.identify(call, host)
    identifiedAt = performance.now()
  }

  return {
    host,
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
    close: () => transport.close(),
  }
}

/** Whatever a node wrote that its schema does not read, or that overflows it, is no answer. */
function validated<T>(schema: z.ZodType<T>, result: unknown, call: NonNullable<FailureDetails['call']>): T {
  try {
    return schema.parse(result)
  } catch (cause) {
    throw new RpcFailure('retry', `${call.method} at ${call.host}: malformed result`, { cause, call })
  }
}
