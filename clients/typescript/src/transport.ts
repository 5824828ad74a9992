import { PaymeshApiError, PaymeshConnectionError } from './api-error.ts'
import { type FetchLike, fetchText, type HttpExchange } from './fetch-text.ts'
import { readRetryAfterMs, retryDelayMs } from './retry-policy.ts'
import type { PaymeshErrorCode, PaymeshErrorDetail } from './types.ts'
import { CLIENT_VERSION } from './version.ts'

/** Options of one call. */
export interface CallOptions {
  /** Ends the call, its retries included; the call rejects with the signal's reason. */
  readonly signal?: AbortSignal | undefined
}

/** Options of one call that changes something. */
export interface WriteOptions extends CallOptions {
  /**
   * 1 to 255 ASCII characters without spaces or controls. Without it each call gets a random key, which its retries keep. Set your
   * own (an order id) to make the call safe to repeat after a crash of your process, for 24 hours.
   */
  readonly idempotencyKey?: string
}

/** One operation, before it is sent. `path` is relative to the base URL. */
export interface Call {
  /** True when the answer is a page of a list; otherwise it is one resource. */
  readonly isList?: true
  readonly method: 'GET' | 'POST' | 'DELETE'
  readonly path: string
  readonly query?: object | undefined
  readonly body?: object | undefined
  /** Of a DELETE: its answer where an attempt without one has deleted it, so that the API finds nothing when it is repeated. */
  readonly gone?: object
  readonly options?: WriteOptions | undefined
}

/** The envelope of a success. `meta` is present only on lists. */
export interface Reply<T> {
  readonly data: T
  readonly meta?: { readonly next_cursor: string | null; readonly has_more: boolean }
  readonly request_id: string
}

/** Sends one call, retries included. Throws `PaymeshApiError`, `PaymeshConnectionError` or the reason of the caller's signal. */
export type Transport = <T>(call: Call) => Promise<Reply<T>>

/** Everything a transport needs, defaults filled in. */
export interface TransportSettings {
  readonly apiKey: string
  /** Without a trailing slash. */
  readonly baseUrl: string
  readonly fetch: FetchLike
  readonly timeoutMs: number
  readonly maxRetries: number
  readonly now: () => number
  readonly random: () => number
  /** Resolves after `ms`; rejects with the signal's reason when that is aborted first. */
  readonly sleep: (ms: number, signal: AbortSignal | undefined) => Promise<void>
}

/** A call ready to be sent, with the same bytes and idempotency key in every attempt. */
interface PreparedCall extends HttpExchange {
  readonly isList: boolean
  readonly operation: string
  readonly idempotencyKey: string | null
}

/** Builds the transport under every resource of the client. */
export function createTransport(settings: TransportSettings): Transport {
  return async <T>(call: Call) => {
    const prepared = prepare(settings, call)
    const signal = call.options?.signal
    let waitedMs = 0
    let isUnclear = false
    for (let attempt = 0; ; attempt += 1) {
      try {
        return await attemptOnce<T>(settings, prepared, signal)
      } catch (error) {
        if (isUnclear && call.gone !== undefined && error instanceof PaymeshApiError && error.code === 'NOT_FOUND')
          return { data: call.gone as T, request_id: error.requestId }
        isUnclear ||= !(error instanceof PaymeshApiError) || error.status >= 500
        const delayMs =
          attempt < settings.maxRetries ? retryDelayMs(error, { attempt, waitedMs }, settings.random) : null
        if (delayMs === null) throw error
        waitedMs += delayMs
        await settings.sleep(delayMs, signal)
      }
    }
  }
}

function prepare({ baseUrl, apiKey }: TransportSettings, call: Call): PreparedCall {
  const { method, path, query, body, options } = call
  const search = new URLSearchParams()
  for (const [name, value] of Object.entries(query ?? {})) if (value !== undefined) search.set(name, String(value))
  const idempotencyKey = method === 'POST' ? (options?.idempotencyKey ?? crypto.randomUUID()) : null
  // HTTP trims spaces around a header's value, so such a key would differ from the stored one.
  if (idempotencyKey !== null && !/^[\x21-\x7e]{1,255}$/.test(idempotencyKey))
    throw new TypeError('idempotencyKey must be 1 to 255 visible ASCII characters')
  return {
    isList: call.isList === true,
    operation: `${method} ${path}`,
    idempotencyKey,
    url: `${baseUrl}${path}${search.size === 0 ? '' : `?${search}`}`,
    method,
    headers: {
      accept: 'application/json',
      authorization: `Bearer ${apiKey}`,
      'user-agent': `paymesh-client-typescript/${CLIENT_VERSION}`,
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...(idempotencyKey === null ? {} : { 'idempotency-key': idempotencyKey }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  }
}

async function attemptOnce<T>(
  { fetch, timeoutMs, now }: TransportSettings,
  prepared: PreparedCall,
  signal: AbortSignal | undefined,
): Promise<Reply<T>> {
  const outcome = await fetchText(fetch, prepared, timeoutMs, signal)
  if ('fault' in outcome) throw new PaymeshConnectionError(outcome.fault, { ...prepared, cause: outcome.cause })
  const { status, text, isReplayed } = outcome
  const retryAfterMs = readRetryAfterMs(outcome.retryAfter, now())
  const value = parseJson(text)
  // An answer whose end is missing, where the connection does not show it: the call may have taken effect.
  if (value === undefined && text.startsWith('{')) throw new PaymeshConnectionError('network', prepared)
  const envelope = readEnvelope(value)
  if (envelope?.error) {
    const { code, message } = envelope.error
    const given = Array.isArray(envelope.error.details) ? envelope.error.details : []
    const details = given.filter((each) => typeof each?.path === 'string' && typeof each.message === 'string')
    const { operation } = prepared
    const requestId = envelope.request_id
    throw new PaymeshApiError({ code, message, details, status, requestId, retryAfterMs, isReplayed, operation })
  }
  if (envelope === null || status < 200 || status > 299 || !hasContent(envelope, prepared.isList))
    throw new PaymeshConnectionError('unreadable', { ...prepared, status, retryAfterMs })
  return envelope as unknown as Reply<T>
}

/** Whether a success holds what the call is for: anything else would be a resource without content, or a list that ends early. */
function hasContent({ data, meta }: Envelope, isList: boolean): boolean {
  if (!isList) return typeof data === 'object' && data !== null && !Array.isArray(data)
  const cursor = meta?.next_cursor
  const isPlaced = typeof meta?.has_more === 'boolean' && (cursor === null || typeof cursor === 'string')
  return Array.isArray(data) && isPlaced
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** The envelope of every response; a proxy in front of the API may return something else, which gives null. */
function readEnvelope(value: unknown): Envelope | null {
  if (typeof value !== 'object' || value === null) return null
  const { error, request_id: requestId } = value as Partial<Envelope>
  if (typeof requestId !== 'string' || !('data' in value)) return null
  return error === null || typeof error?.code === 'string' ? (value as Envelope) : null
}

interface Envelope {
  readonly data: unknown
  readonly meta?: { readonly next_cursor?: unknown; readonly has_more?: unknown }
  readonly error: {
    readonly code: PaymeshErrorCode
    readonly message: string
    readonly details?: readonly PaymeshErrorDetail[]
  } | null
  readonly request_id: string
}
