import { Pool } from 'undici'
import type { z } from 'zod'
import type { Metrics } from '#shared/usecases/ports/runtime.ts'
import { NodeMismatch, NodeUnreliable } from '#shared/usecases/ports/scanning.ts'
import { parseLosslessJson } from './lossless-json.ts'
import { headerSchema } from './wire.ts'

/** One total deadline per call, milliseconds. */
const TIMEOUT_MS = 10_000
const BODY_MAX_BYTES = 64 * 2 ** 20
/** Calls at the same time to one node. */
const CONNECTIONS = 8
/** How often block 0 of the node in use is asked again: another node may come up behind the same URL. */
const IDENTITY_MS = 60_000

/** The HTTP API over the nodes of TRON in one mode. */
export interface TronHttp {
  /**
   * The validated answer to one request such as `wallet/getnowblock`. All requests go to one node until it fails, then
   * the next one is used. Integers beyond 15 digits reach the schema as strings. Throws `NodeUnreliable`, and
   * `NodeMismatch` when the node in use is on another chain. No message holds path, query or user info of a URL.
   */
  call<T>(path: string, body: Readonly<Record<string, unknown>>, schema: z.ZodType<T>): Promise<T>
  /**
   * Asks the other nodes in order, without changing which one is in use; the first answer counts. Null when there is one
   * node only. Throws `NodeUnreliable` when none of the others answers on our chain.
   */
  readonly callOther: TronHttp['call'] | null
  close(): Promise<void>
}

/** What the HTTP client needs. `urls` is not empty, the preferred first. */
export interface TronHttpOptions {
  readonly urls: readonly string[]
  /** Says whether a chain with this block 0 is ours. */
  readonly isOurs: (genesisId: string) => boolean
  readonly metrics: Metrics
  readonly labels: Readonly<Record<string, string>>
}

/** Opens nothing until the first call. */
export function createTronHttp(options: TronHttpOptions): TronHttp {
  const nodes = options.urls.map((url) => createNode(url, options))
  let current = 0
  return {
    async call(path, body, schema) {
      const node = nodes[current]
      if (node === undefined) throw new NodeUnreliable('no node is configured')
      try {
        await node.identify()
        return await node.call(path, body, schema)
      } catch (error) {
        if (nodes[current] === node) current = (current + 1) % nodes.length
        throw error
      }
    },
    callOther:
      nodes.length === 1
        ? null
        : async (path, body, schema) => {
            const others = nodes.map((_, index) => nodes[(current + index) % nodes.length]).slice(1)
            for (const node of others) {
              try {
                await node?.identify()
                if (node !== undefined) return await node.call(path, body, schema)
              } catch {
                // The next one may know; what went wrong is in the metrics.
              }
            }
            throw new NodeUnreliable(`${path}: no second node answers`)
          },
    async close() {
      await Promise.all(nodes.map((node) => node.close()))
    },
  }
}

type Call = TronHttp['call']

interface Node {
  readonly call: Call
  /** Makes sure that the node is on our chain, by an answer at most a minute old and none after a failure. */
  identify(): Promise<void>
  close(): Promise<void>
}

function createNode(text: string, { isOurs, metrics, labels }: TronHttpOptions): Node {
  const url = new URL(text)
  const pool = new Pool(url.origin, { connections: CONNECTIONS, maxResponseSize: BODY_MAX_BYTES })
  const post = poster(pool, url)
  let identifiedAt = Number.NEGATIVE_INFINITY
  let identifying: Promise<void> | null = null

  const call: Call = async (path, body, schema) => {
    try {
      const parsed = schema.safeParse(await post(path, body))
      if (!parsed.success) {
        throw new NodeUnreliable(`${path} at ${url.host}: malformed answer`, { cause: parsed.error })
      }
      metrics.count('scanner_rpc_total', { ...labels, method: path, outcome: 'ok' })
      return parsed.data
    } catch (error) {
      identifiedAt = Number.NEGATIVE_INFINITY
      metrics.count('scanner_rpc_total', { ...labels, method: path, outcome: 'retry' })
      throw error
    }
  }

  async function identify(): Promise<void> {
    const { blockID } = await call('wallet/getblockbynum', { num: 0 }, headerSchema)
    if (!isOurs(blockID)) throw new NodeMismatch(`the node at ${url.host} has another first block: ${blockID}`)
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

function poster(pool: Pool, url: URL): (path: string, body: Readonly<Record<string, unknown>>) => Promise<unknown> {
  const headers = { 'content-type': 'application/json', ...credentials(url) }
  const prefix = url.pathname.replace(/\/$/, '')
  return async (path, body) => {
    let text: string
    let status: number
    try {
      const response = await pool.request({
        method: 'POST',
        path: `${prefix}/${path}${url.search}`,
        headers,
        // With `visible: true` a node would rewrite the addresses in logs.
        body: JSON.stringify({ ...body, visible: false }),
        signal: AbortSignal.timeout(TIMEOUT_MS),
      })
      status = response.statusCode
      text = await response.body.text()
    } catch (error) {
      // The cause may quote the URL with its secrets: only its name travels.
      throw new NodeUnreliable(`${path} at ${url.host}: ${error instanceof Error ? error.name : 'failed'}`)
    }
    if (status !== 200) throw new NodeUnreliable(`${path} at ${url.host}: status ${status}`)
    try {
      return parseLosslessJson(text)
    } catch {
      throw new NodeUnreliable(`${path} at ${url.host}: no JSON`)
    }
  }
}

/** A name alone is an API key, as TronGrid takes it; a name with a password is for a proxy in front of an own node. */
function credentials(url: URL): Readonly<Record<string, string>> {
  const name = decodeURIComponent(url.username)
  if (name === '') return {}
  if (url.password === '') return { 'tron-pro-api-key': name }
  const pair = `${name}:${decodeURIComponent(url.password)}`
  return { authorization: `Basic ${Buffer.from(pair).toString('base64')}` }
}
