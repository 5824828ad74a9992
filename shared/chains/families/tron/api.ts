import { z } from 'zod'
import { NodeMismatch } from '#shared/ports/scanning.ts'
import { type ApiNode, createApiNode, type NodeQuestions, type Transport } from '../../nodes/api-node.ts'
import { basicAuthentication, createHttpEndpoint, type EndpointMetrics } from '../../nodes/http-endpoint.ts'
import { createPacer } from '../../nodes/pacer.ts'
import { createWordsFilter } from '../../nodes/provider-words.ts'
import { failureOfStatus, RpcFailure } from '../../nodes/rpc-failure.ts'
import { createRpcPool, type RpcPool } from '../../nodes/rpc-pool.ts'
import { checkHeader } from './check-block.ts'
import { parseLosslessJson } from './lossless-json.ts'
import { headerSchema, maybeHeaderSchema } from './wire.ts'

/**
 * How TronGrid refuses clients above its rate limit, with status 403 or 503 and without a Retry-After header
 * (developers.tron.network, "Rate limits").
 */
const SUSPENDED = /suspended for (\d{1,5}) ?s/i
/**
 * The same without a time (andelf/tronpy#148: 403 "Exceed the user daily usage (100000), the maximum query frequency is 1 time per second"), and a
 * node's own limit, with status 200 (java-tron 4.8.2, `RateLimiterServlet`). A quota is no refusal: it passes, and other requests spend it as well.
 */
const LIMITED = /frequency|daily usage|exceeds? the limit|limit exceeded|allowed_rps|too many|computing resources/i
/** How a lite full node refuses everything about the past, with status 200 (java-tron, `LiteFnQueryHttpFilter`). */
const LITE = /\blite ?full ?node\b/i
/** Refusals are short; a longer body of a failed request is not shown. */
const WORDS_MAX = 1_000
/** How often a second public node is queried for its solid block, milliseconds: the daily quota is limited. */
const PUBLIC_FINAL_EVERY_MS = 15_000
type Params = Readonly<Record<string, unknown>>

/**
 * One node's HTTP API, with paths such as `wallet/getnowblock`. Integers of 16 and more digits reach schemas as strings.
 */
export type TronNode = ApiNode<Params>

/** Settings of the API over a network's nodes. `urls` is not empty, the preferred first. */
export interface TronApiOptions extends Pick<NodeQuestions<Params>, 'metrics' | 'labels'> {
  readonly urls: readonly string[]
  /** Id of block 0 that the nodes must have, or `any`. */
  readonly genesis: string
  /** Most requests per second to one node; null: unlimited. */
  readonly perSecond: number | null
}

/** The nodes of TRON in one mode. Opens nothing until the first call. */
export function createTronApi({ urls, genesis, perSecond, metrics, labels }: TronApiOptions): RpcPool<TronNode> {
  const questions: NodeQuestions<Params> = {
    metrics,
    labels,
    async identify(call, host) {
      const first = await call('wallet/getblockbynum', { num: 0 }, headerSchema)
      checkHeader(first, 0)
      const { blockID } = first
      if (genesis !== 'any' && blockID !== genesis) {
        throw new NodeMismatch(`the node at ${host} has another first block than ${genesis}: ${blockID}`)
      }
    },
    async headHeight(call) {
      return (await call('wallet/getnowblock', {}, headerSchema)).block_header.raw_data.number
    },
    async hashAt(call, height) {
      const header = await call('wallet/getblockbynum', { num: height }, maybeHeaderSchema)
      if (header === null) return null
      checkHeader(header, height)
      return header.blockID
    },
  }
  const nodes = urls.map((url) => createApiNode(createTransport(url, perSecond, questions), questions))
  return createRpcPool({ nodes, metrics, labels, ...(perSecond !== null && { finalEveryMs: PUBLIC_FINAL_EVERY_MS }) })
}

function createTransport(url: string, perSecond: number | null, counted: EndpointMetrics): Transport<Params> {
  const endpoint = createHttpEndpoint(url, counted, credentials)
  const { host } = endpoint
  const pace = createPacer(perSecond)
  const wordsOf = createWordsFilter(new URL(url))
  return {
    host,
    async request(path, params, limits) {
      await pace()
      // With `visible: true` a node would rewrite the addresses in logs.
      const body = { ...params, visible: false }
      const { status, text, retryAfterMs } = await endpoint.post({ what: path, path: `/${path}`, body, ...limits })
      const pauseMs = retryAfterMs ?? suspension(text)
      if (status !== 200 || pauseMs !== null) {
        const shown = quoted(wordsOf(shortText(text)))
        const kind = pauseMs === null && !LIMITED.test(shown) ? failureOfStatus(status) : 'rate'
        throw new RpcFailure(kind, `${path} at ${host}: status ${status}${shown}`, {
          retryAfterMs: pauseMs,
          call: { method: path, host },
        })
      }
      return resultOf(text, { method: path, host }, wordsOf)
    },
    close: () => endpoint.close(),
  }
}

/** A refusal as it stands; nothing of a longer body, or of a page for browsers. */
const shortText = (text: string): string => (text.length > WORDS_MAX || /^\s*</.test(text) ? '' : text)

const quoted = (words: string): string => (words === '' ? '' : `: "${words}"`)

/** How java-tron (`Error`) and gateways (`error`, those that serve JSON-RPC as well) answer with status 200 where they fail; no other answer has these fields. */
const failed = z.union([
  z.object({ Error: z.string() }).transform(({ Error: words }) => words),
  z.object({ error: z.string() }).transform(({ error: words }) => words),
  z.object({ error: z.object({ message: z.string() }) }).transform(({ error }) => error.message),
])

function resultOf(
  text: string,
  call: { readonly method: string; readonly host: string },
  wordsOf: (text: string) => string,
): unknown {
  const what = `${call.method} at ${call.host}`
  let json: unknown
  try {
    json = parseLosslessJson(text)
  } catch {
    const kind = LITE.test(shortText(text)) ? 'pruned' : 'retry'
    throw new RpcFailure(kind, `${what}: no JSON${quoted(wordsOf(shortText(text)))}`, { call })
  }
  const failure = failed.safeParse(json)
  if (failure.success) {
    const words = quoted(wordsOf(failure.data.slice(0, WORDS_MAX)))
    throw new RpcFailure(LIMITED.test(words) ? 'rate' : 'unclear', `${what}${words}`, { call })
  }
  return json
}

/** Milliseconds for which the provider will refuse requests; null when it does not state that. Blocks are longer than any refusal. */
function suspension(text: string): number | null {
  const [, seconds] = text.length > 1_000 ? [] : (SUSPENDED.exec(text) ?? [])
  return seconds === undefined ? null : Number(seconds) * 1_000
}

/** A user name alone is an API key, as TronGrid expects; a name with a password is for a proxy in front of an own node. */
function credentials(url: URL): Readonly<Record<string, string>> {
  if (url.username === '' || url.password !== '') return basicAuthentication(url)
  return { 'tron-pro-api-key': decodeURIComponent(url.username) }
}
