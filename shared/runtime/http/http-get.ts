import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import type { Socket } from 'node:net'
import { Agent, type Dispatcher, fetch, type Response } from 'undici'
import { errorCauses } from '#shared/contracts/error-text.ts'
import { countValues } from '#shared/contracts/value-count.ts'

/** Result of a request: a response of any status, or no usable response at all. */
export type HttpGetResult =
  | {
      readonly outcome: 'answer'
      readonly status: number
      readonly body: string
      /** The `Retry-After` header, seconds or date, as a wait from now; null when there is none. */
      readonly retryAfterMs: number | null
      /** The `Age` header that a cache set on the response, seconds; 0 without one. */
      readonly ageSeconds: number
    }
  | { readonly outcome: 'timeout' | 'network' | 'too_large'; readonly cause: unknown }

/** Reads public documents by GET; safe to share. */
export type HttpGet = ReturnType<typeof createHttpGet>

const KEEP_ALIVE_MS = 30_000
/** Most values of a document, which is JSON: its readers look at each of them. The longest list that is read is Kraken's `AssetPairs`: 98 values for each of 1,440 pairs (2026-08-05), 141,000 in 1.1 MB. */
const VALUES_MAX = 2 ** 18

/** What may come for one request beside the body of its response, and as much again as that has, in bytes on the wire: HTTP bounds neither 1xx responses nor chunk extensions and empty lines. */
const ENVELOPE_MAX_BYTES = 262_144

/** Builds a client with its own connections; they stay open between polls so that a poll costs one round trip. */
export function createHttpGet(options: { readonly userAgent: string }) {
  const agent = new Agent({
    keepAliveTimeout: KEEP_ALIVE_MS,
    connections: 4,
    maxHeaderSize: 16_384,
    allowH2: false,
  })
  const { intercept, stop } = createEnvelopeBound()
  const dispatcher = agent.compose(intercept)
  return {
    /**
     * One GET under a total deadline (`signal` covers headers and body). Redirects are not followed and come back with
     * their own status; a body beyond `maxBytes` or 262,144 values after decompression, or more than 256 KB around it, is cut off as `too_large`. Never throws.
     */
    async get(
      url: string,
      { signal, maxBytes }: { readonly signal: AbortSignal; readonly maxBytes: number },
    ): Promise<HttpGetResult> {
      try {
        const response = await fetch(url, {
          dispatcher,
          signal,
          redirect: 'manual',
          headers: { 'user-agent': options.userAgent, accept: 'application/json' },
        })
        return await readAnswer(response, maxBytes)
      } catch (cause) {
        const isTooLarge = errorCauses(cause).some((one) => one instanceof EnvelopeTooLarge)
        return { outcome: isTooLarge ? 'too_large' : signal.aborted ? 'timeout' : 'network', cause }
      }
    },

    /** Closes every connection, in use or idle. */
    close: async (): Promise<void> => {
      stop()
      await agent.destroy()
    },
  }
}

class EnvelopeTooLarge extends Error {}

/** A request of which a connection carries the response. */
interface Exchange {
  readonly origin: Dispatcher.DispatchOptions['origin']
  bodyBytes: number
  /** What had come on the connection before. */
  readBefore: number
}

/** Ends a connection on which more than `ENVELOPE_MAX_BYTES` comes around a response. undici shows the connection of a request only on its diagnostics channel, in the same turn in which the request starts. */
function createEnvelopeBound() {
  const exchanges = new WeakMap<Socket, Exchange>()
  let starting: Exchange | null = null
  const onSend = (message: unknown): void => {
    const { request, socket } = message as { readonly request: { readonly origin?: unknown }; readonly socket: Socket }
    const exchange = starting
    starting = null
    // The channel is that of the whole process.
    if (exchange === null || exchange.origin !== request.origin) return
    const isNew = !exchanges.has(socket)
    exchanges.set(socket, Object.assign(exchange, { readBefore: socket.bytesRead }))
    if (isNew) socket.on('readable', () => check(socket))
  }
  const check = (socket: Socket): void => {
    const { bodyBytes = 0, readBefore = 0 } = exchanges.get(socket) ?? {}
    if (socket.bytesRead - readBefore > 2 * bodyBytes + ENVELOPE_MAX_BYTES) socket.destroy(new EnvelopeTooLarge())
  }
  const counting = (
    { origin }: Dispatcher.DispatchOptions,
    handler: Dispatcher.DispatchHandler,
  ): Dispatcher.DispatchHandler => {
    const exchange: Exchange = { origin, bodyBytes: 0, readBefore: 0 }
    return {
      onRequestStart: (controller, context) => {
        handler.onRequestStart?.(controller, context)
        starting = controller.aborted ? null : exchange
      },
      onResponseStart: (...response) => handler.onResponseStart?.(...response),
      onResponseData: (controller, chunk) => {
        exchange.bodyBytes += chunk.length
        handler.onResponseData?.(controller, chunk)
      },
      onResponseEnd: (...end) => handler.onResponseEnd?.(...end),
      onResponseError: (...fault) => handler.onResponseError?.(...fault),
    }
  }
  const intercept: Dispatcher.DispatcherComposeInterceptor = (dispatch) => (request, handler) =>
    dispatch(request, counting(request, handler))
  subscribe(SEND_CHANNEL, onSend)
  return { intercept, stop: () => unsubscribe(SEND_CHANNEL, onSend) }
}

const SEND_CHANNEL = 'undici:client:sendHeaders'

async function readAnswer(response: Response, maxBytes: number): Promise<HttpGetResult> {
  const chunks: Uint8Array[] = []
  let size = 0
  let values = 0
  for await (const chunk of response.body ?? []) {
    size += chunk.byteLength
    values += countValues(chunk)
    // Leaving the loop cancels the stream, which closes the connection.
    if (size > maxBytes || values > VALUES_MAX)
      return { outcome: 'too_large', cause: `more than ${maxBytes} bytes or ${VALUES_MAX} values` }
    chunks.push(chunk)
  }
  return {
    outcome: 'answer',
    status: response.status,
    body: Buffer.concat(chunks).toString('utf8'),
    retryAfterMs: retryAfterMs(response.headers.get('retry-after')),
    ageSeconds: wholeSeconds(response.headers.get('age')) ?? 0,
  }
}

function retryAfterMs(header: string | null): number | null {
  if (header === null) return null
  const seconds = wholeSeconds(header)
  if (seconds !== null) return seconds * 1000
  const at = Date.parse(header)
  return Number.isNaN(at) ? null : Math.max(0, at - Date.now())
}

function wholeSeconds(header: string | null): number | null {
  return header !== null && /^\d{1,9}$/.test(header) ? Number(header) : null
}
