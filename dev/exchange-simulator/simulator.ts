import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { quoteNumbers } from '#shared/contracts/rates/lossless-json.ts'
import { listenOn } from '#shared/runtime/http/listen-on.ts'
import { binanceBody, bitfinexText, bitstampBody, coinbaseBody, krakenBody, okxBody } from './crypto-formats.ts'
import {
  type Fault,
  type FaultKind,
  REPLY_FAULTS,
  type ReplyFault,
  TRANSPORT_FAULTS,
  type TransportFault,
} from './faults.ts'
import { bitsoBody, coinbaseFxBody, coinPaprikaBody, dolarApiBody, openErApiBody, yadioBody } from './fiat-formats.ts'
import { createMarket, type Market } from './market.ts'
import type { Scene } from './venue.ts'

/** Prints a source's response in its real format: a string is sent unchanged, anything else as JSON. */
const FORMATS = {
  kraken: krakenBody,
  coinbase: coinbaseBody,
  bitstamp: bitstampBody,
  okx: okxBody,
  binance: binanceBody,
  bitfinex: bitfinexText,
  bitso: bitsoBody,
  'coinbase-fx': coinbaseFxBody,
  yadio: yadioBody,
  'open-er-api': openErApiBody,
  'dolar-api': dolarApiBody,
  'coin-paprika': coinPaprikaBody,
} as const satisfies Record<string, (scene: Scene) => unknown>

/** A simulated source, by its name in the configuration of rates. */
export type SimulatedSource = keyof typeof FORMATS

const SOURCES = Object.keys(FORMATS) as readonly SimulatedSource[]

/** A running simulator. */
export type ExchangeSimulator = Awaited<ReturnType<typeof startExchangeSimulator>>

/** Options of {@link startExchangeSimulator}. */
export interface ExchangeSimulatorOptions {
  /** 0 = any free port of the loopback interface. */
  readonly port: number
  /** USD per unit, over the built-in prices. */
  readonly seedPrices?: Readonly<Record<string, number>>
  /** Clock of the timestamps; the machine's by default. */
  readonly now?: () => number
}

interface Simulation {
  readonly market: Market
  readonly faults: Map<string, Fault>
  readonly lastBodies: Map<string, string>
  readonly now: () => number
}

/** Starts one HTTP server that serves the format of every price source under `/<source>/…`. */
export async function startExchangeSimulator(options: ExchangeSimulatorOptions) {
  const simulation: Simulation = {
    market: createMarket(options.seedPrices),
    faults: new Map(),
    lastBodies: new Map(),
    now: options.now ?? Date.now,
  }
  const server = createServer((request, response) => answer(simulation, request, response))
  const { port } = await listenOn(server, options.port, '127.0.0.1')
  const url = `http://127.0.0.1:${port}`
  return {
    url,
    /** Base URL by source name, ready for `PAYMESH_RATE_SOURCES`. */
    sourceUrls: Object.fromEntries(SOURCES.map((source) => [source, `${url}/${source}`])) as Record<
      SimulatedSource,
      string
    >,
    /** USD per unit of a coin now. */
    priceOf: (symbol: string): number => simulation.market.price(symbol, 'USD'),
    /** Moves a coin on every venue at once. */
    setPrice: simulation.market.setPrice,
    /** Activates a fault of a source until it is healed; `symbol` limits pair faults to one coin or fiat. */
    misbehave: (source: SimulatedSource, kind: FaultKind, symbol?: string) =>
      void simulation.faults.set(source, { kind, symbol: symbol ?? null }),
    /** Ends the faults of one source, or of all. */
    heal: (source?: SimulatedSource) =>
      source === undefined ? simulation.faults.clear() : void simulation.faults.delete(source),
    async stop() {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()))
      server.closeAllConnections()
      await closed
    },
  }
}

const NOT_FOUND: Reply = { status: 404, body: '{"message":"NotFound"}' }

function answer(simulation: Simulation, request: IncomingMessage, response: ServerResponse): void {
  const url = new URL(request.url ?? '/', 'http://127.0.0.1')
  const source = SOURCES.find((name) => url.pathname.startsWith(`/${name}/`))
  const kind = source === undefined ? undefined : simulation.faults.get(source)?.kind
  const { status, body, headers } = source === undefined ? NOT_FOUND : replyTo(simulation, source, url)
  const transport = TRANSPORT_FAULTS.find((fault) => fault === kind)
  if (transport !== undefined) {
    sendBroken(transport, body, response)
    return
  }
  response.writeHead(status, { 'content-type': 'application/json', ...headers })
  response.end(body)
}

function replyTo(simulation: Simulation, source: SimulatedSource, request: URL): Reply {
  try {
    return sourceReply(simulation, source, request)
  } catch (error) {
    return { status: 400, body: JSON.stringify({ error: String(error) }) }
  }
}

function sourceReply(simulation: Simulation, source: SimulatedSource, request: URL): Reply {
  const fault = simulation.faults.get(source) ?? null
  const broken = REPLY_FAULTS.find((kind) => kind === fault?.kind)
  if (broken !== undefined) return brokenReply(broken, source, simulation.now())
  simulation.market.step()
  const printed = FORMATS[source]({ market: simulation.market, fault, now: simulation.now(), request })
  const fresh = typeof printed === 'string' ? printed : JSON.stringify(printed)
  const key = `${source}${request.pathname}`
  const body = fault?.kind === 'frozen' ? (simulation.lastBodies.get(key) ?? fresh) : bendBody(fresh, fault?.kind)
  simulation.lastBodies.set(key, body)
  const refused = source === 'binance' && body.startsWith('{')
  return { status: refused ? 400 : 200, body, headers: fault?.kind === 'stale' ? { age: '600' } : {} }
}

const QUOTED_NUMBER = /"(-?\d+(?:\.\d+)?)"(?!\s*:)/g

/** A body after a fault that changes the format of a good response. */
function bendBody(body: string, kind: FaultKind | undefined): string {
  if (kind === 'truncated') return body.slice(0, body.length / 2)
  if (kind === 'other_types') return otherTypes(body)
  return kind === 'new_fields' ? JSON.stringify(withNewFields(JSON.parse(body))) : body
}

/** Numbers written as text become bare numbers, and the reverse. */
function otherTypes(body: string): string {
  const bare = body.replace(QUOTED_NUMBER, '$1')
  if (bare !== body) return bare
  return quoteNumbers(body)
}

function withNewFields(value: unknown): unknown {
  if (Array.isArray(value)) return isTuple(value) ? value : value.map(withNewFields).reverse()
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value).map(([key, item]) => [key, withNewFields(item)] as const)
  return Object.fromEntries([...entries.reverse(), ['brand_new_field', { nested: [1, 'two', null] }]])
}

/** A list whose positions have a meaning, such as `[price, volume]`. */
function isTuple(list: readonly unknown[]): boolean {
  return list.every((item) => typeof item !== 'object' || item === null)
}

const SLOW_MS = 100
/** Above what a rate source may send. */
const HUGE_BYTES = 6 * 1_024 * 1_024
const JSON_TYPE = { 'content-type': 'application/json' }

/** Sends `body` over a connection with this fault. */
function sendBroken(fault: TransportFault, body: string, response: ServerResponse): void {
  switch (fault) {
    case 'timeout':
      return
    case 'slow_body':
      sendSlowly(body, response)
      return
    case 'reset':
      response.writeHead(200, { ...JSON_TYPE, 'content-length': Buffer.byteLength(body) })
      response.write(body.slice(0, body.length / 2), () => response.socket?.resetAndDestroy())
      return
    case 'broken_gzip':
      response.writeHead(200, { ...JSON_TYPE, 'content-encoding': 'gzip' })
      response.end(body)
      return
    case 'huge':
      response.writeHead(200, JSON_TYPE)
      response.end(body + ' '.repeat(HUGE_BYTES))
  }
}

function sendSlowly(body: string, response: ServerResponse): void {
  response.writeHead(200, JSON_TYPE)
  let sent = 0
  const timer = setInterval(() => {
    response.write(body.charAt(sent))
    sent += 1
    if (sent >= body.length) response.end()
  }, SLOW_MS)
  response.on('close', () => clearInterval(timer))
}

/** An HTTP response of the simulator. */
interface Reply {
  readonly status: number
  readonly body: string
  readonly headers?: Readonly<Record<string, string>>
}

const MAINTENANCE = '<html><body><h1>Scheduled maintenance</h1></body></html>'
const HTML = { 'content-type': 'text/html' }
const TOO_MANY = '{"message":"Too many requests"}'

/** How each source reports an error inside a 200 response, as recorded. */
const ERRORS_IN_200: Readonly<Record<string, string>> = {
  kraken: '{"error":["EService:Unavailable"]}',
  coinbase: '{"errors":[{"id":"rate_limit_exceeded","message":"Too many requests"}]}',
  bitstamp: '{"error":"Bitstamp.net is under scheduled maintenance. We\'ll be back soon."}',
  okx: '{"code":"50001","msg":"Service temporarily unavailable","data":[]}',
  binance: '{"code":-1003,"msg":"Too many requests."}',
  bitfinex: '["error",20060,"maintenance"]',
  bitso: '{"success":false,"error":{"code":"0304","message":"The field is invalid"}}',
  'coinbase-fx': '{"errors":[{"id":"internal_server_error","message":"Something went wrong"}]}',
  yadio: '{"error":"service unavailable"}',
  'open-er-api': '{"result":"error","error-type":"quota-reached"}',
  'dolar-api': '{"error":"unavailable"}',
  'coin-paprika': '{"error":"id not found"}',
}

/** The response of a source with this fault. */
function brokenReply(fault: ReplyFault, source: string, now: number): Reply {
  switch (fault) {
    case 'html':
      return { status: 200, body: MAINTENANCE, headers: HTML }
    case 'html_as_json':
      return { status: 200, body: MAINTENANCE }
    case 'error_in_200':
      return { status: 200, body: ERRORS_IN_200[source] ?? '{}' }
    case 'redirect':
      return { status: 302, body: '', headers: { location: 'http://127.0.0.1:1/elsewhere' } }
    case 'http_429':
      return { status: 429, body: TOO_MANY, headers: { 'retry-after': '30' } }
    case 'http_429_date':
      return { status: 429, body: TOO_MANY, headers: { 'retry-after': new Date(now + 30_000).toUTCString() } }
    case 'http_429_bare':
      return { status: 429, body: TOO_MANY }
    case 'http_418':
      return { status: 418, body: '{"code":-1003,"msg":"Way too many requests."}', headers: { 'retry-after': '120' } }
    case 'http_401':
      return { status: 401, body: '{"status":{"error_code":10002,"error_message":"API key missing"}}' }
    case 'forbidden':
      return { status: 403, body: '{"message":"Forbidden"}' }
    case 'http_451':
      return { status: 451, body: '{"code":0,"msg":"Service unavailable from a restricted location"}' }
    case 'http_500':
      return { status: 500, body: MAINTENANCE, headers: HTML }
    case 'http_503':
      return { status: 503, body: MAINTENANCE, headers: HTML }
    case 'http_520':
      return { status: 520, body: MAINTENANCE, headers: HTML }
  }
}
