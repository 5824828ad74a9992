import { type Dispatcher, errors, Pool } from 'undici'
import { createByteGate, type Holding } from './byte-gate.ts'
import { RpcFailure } from './rpc-failure.ts'

const BODY_MAX_BYTES = 64 * 2 ** 20
/** Text of all answers that this process holds at one time; parsed, it takes some five times as much. */
const HELD_MAX_BYTES = 16 * 2 ** 20
/** What an answer is expected to have that nobody expected to be large and that does not say how large it is. */
const UNKNOWN_BYTES = 4 * 2 ** 20
/** Share of what is expected that stays when an answer is smaller. */
const EXPECTED_DECAY = 0.75
/** Calls at the same time to one node. */
const CONNECTIONS = 8
/** Pause after status 429 that names none. */
const RETRY_AFTER_DEFAULT_MS = 1_000

/** One POST to a node. */
export interface HttpQuestion {
  /** What is asked, for messages. */
  readonly what: string
  /** Appended to the path of the node's URL; starts with a slash. */
  readonly path?: string
  readonly body: unknown
  /** One total deadline, milliseconds. */
  readonly timeoutMs: number
  /** Most bytes of the answer, at most 64 MB; a larger one is cut. */
  readonly maxBytes?: number
}

/** What a node said to it, with any status. */
export interface HttpAnswer {
  readonly status: number
  readonly text: string
  /** How long the node asked to be left alone by status 429, milliseconds; null when it did not. */
  readonly retryAfterMs: number | null
}

/** A node's URL and the connections to it. */
export interface HttpEndpoint {
  /** Host and port of the URL. */
  readonly host: string
  /** Throws `RpcFailure` without an answer; no message holds path, query or user info of the URL. */
  post(question: HttpQuestion): Promise<HttpAnswer>
  close(): Promise<void>
}

/** One for all nodes of all networks: they share the memory of the process. */
const gate = createByteGate(HELD_MAX_BYTES)

/**
 * JSON over HTTP to one node. Opens nothing until the first question. Questions with large answers wait for each other, over
 * all nodes, before their deadline begins: callers reduce an answer to what they need of it before they await anything else.
 * `credentials` makes headers of the URL's user info, which is never part of a request line; by default it becomes Basic
 * authentication.
 */
export function createHttpEndpoint(
  text: string,
  credentials: (url: URL) => Readonly<Record<string, string>> = basicAuthentication,
): HttpEndpoint {
  const url = new URL(text)
  const pool = new Pool(url.origin, { connections: CONNECTIONS, maxResponseSize: BODY_MAX_BYTES })
  const headers = { 'content-type': 'application/json', ...credentials(url) }
  const base = { method: 'POST', headers } as const
  const expected = createExpectation()
  return {
    host: url.host,
    async post({ what, path, body, timeoutMs, maxBytes = BODY_MAX_BYTES }) {
      const prefix = path === undefined ? url.pathname : `${url.pathname.replace(/\/$/, '')}${path}`
      const holding = await gate.enter(expected.of(what))
      try {
        const signal = AbortSignal.timeout(timeoutMs)
        const response = await pool.request({
          ...base,
          path: `${prefix}${url.search}`,
          body: JSON.stringify(body),
          signal,
          // One deadline: by default a pool gives up on a silent node after 300 s, whatever the caller allows.
          headersTimeout: timeoutMs,
          bodyTimeout: timeoutMs,
        })
        // Nothing of it was read yet: who turns out larger waits again, instead of holding what others wait for.
        const announced = Number(response.headers['content-length'] ?? 0)
        if (announced > expected.of(what)) await holding.reenter(Math.min(announced, maxBytes))
        const text = await readText(response.body, holding, maxBytes)
        expected.learn(what, text.length)
        return { status: response.statusCode, text, retryAfterMs: pauseOf(response) }
      } catch (error) {
        const isTooLarge = error instanceof errors.ResponseExceededMaxSizeError || error instanceof AnswerTooLarge
        // The cause may quote the URL with its secrets: only its name travels.
        const name = error instanceof Error ? error.name : 'failed'
        const words = isTooLarge ? `the answer is larger than ${maxBytes} bytes (${name})` : name
        const call = { method: what, host: url.host }
        throw new RpcFailure(isTooLarge ? 'split' : 'retry', `${what} at ${url.host}: ${words}`, { call })
      } finally {
        // The caller parses in this turn of the event loop.
        setImmediate(holding.leave)
      }
    },
    close: () => pool.close(),
  }
}

/** More bytes came than the question allows. */
class AnswerTooLarge extends Error {
  override readonly name = 'AnswerTooLarge'
}

/** Reads a body to its end while the memory that is held for it grows with it. Ends the connection behind `maxBytes`. */
async function readText(body: AsyncIterable<Buffer>, holding: Holding, maxBytes: number): Promise<string> {
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of body) {
    chunks.push(chunk)
    bytes += chunk.length
    if (bytes > maxBytes) throw new AnswerTooLarge()
    if (!holding.isSmall) continue
    holding.resize(bytes)
    if (!holding.isSmall) await holding.reenter(UNKNOWN_BYTES)
  }
  holding.resize(bytes)
  return new TextDecoder().decode(Buffer.concat(chunks))
}

/** How large answers to a question are: follows what grows at once, and what shrinks slowly. */
function createExpectation() {
  const bytes = new Map<string, number>()
  const of = (what: string) => bytes.get(what) ?? 0
  return {
    of,
    learn: (what: string, seen: number) =>
      void bytes.set(what, Math.max(seen, (bytes.get(what) ?? 0) * EXPECTED_DECAY)),
  }
}

/** The user info of a URL as an `authorization` header; nothing without a user. */
export function basicAuthentication({ username, password }: URL): Readonly<Record<string, string>> {
  if (username === '') return {}
  const pair = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`
  return { authorization: `Basic ${Buffer.from(pair).toString('base64')}` }
}

function pauseOf({ statusCode, headers }: Dispatcher.ResponseData): number | null {
  return statusCode === 429 ? parseRetryAfter(headers['retry-after'], Date.now()) : null
}

/** Milliseconds that a Retry-After header asks for, as seconds or as a date (RFC 9110, section 10.2.3); a second without one. */
function parseRetryAfter(header: string | string[] | undefined, now: number): number {
  const text = typeof header === 'string' ? header.trim() : ''
  if (/^\d+$/.test(text)) return Number(text) * 1_000
  const at = Date.parse(text)
  return Number.isNaN(at) ? RETRY_AFTER_DEFAULT_MS : Math.max(0, at - now)
}
