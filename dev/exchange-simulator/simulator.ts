import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { bendBody } from './bent-body.ts'
import { brokenReply, type Reply } from './broken-replies.ts'
import { sendBroken } from './broken-transport.ts'
import { binanceBody, bitfinexText, bitstampBody, coinbaseBody, krakenBody, okxBody } from './crypto-formats.ts'
import { FAULTS, type Fault, type FaultKind, REPLY_FAULTS, TRANSPORT_FAULTS } from './faults.ts'
import { bitsoBody, coinbaseFxBody, coinPaprikaBody, dolarApiBody, openErApiBody, yadioBody } from './fiat-formats.ts'
import { createMarket, type Market } from './market.ts'
import { ERAS, type Era, type Scene } from './venue.ts'

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
export interface ExchangeSimulator {
  readonly url: string
  /** Base URL by source name, ready for `PAYMESH_RATE_SOURCES`. */
  readonly sourceUrls: Readonly<Record<SimulatedSource, string>>
  /** Moves a coin on every venue at once. */
  setPrice(symbol: string, usd: number): void
  /** Activates a fault of a source until it is healed; `symbol` limits pair faults to one coin or fiat. */
  misbehave(source: SimulatedSource, fault: FaultKind, symbol?: string): void
  /** Changes what the venues list. */
  travel(era: Era): void
  /** Ends the faults of one source, or of all. */
  heal(source?: SimulatedSource): void
  stop(): Promise<void>
}

/** Options of {@link startExchangeSimulator}. */
export interface ExchangeSimulatorOptions {
  /** 0 = any free port of the loopback interface. */
  readonly port: number
  /** USD per unit, over the built-in prices. */
  readonly seedPrices?: Readonly<Record<string, number>>
  /** Clock of the timestamps; the machine's by default. */
  readonly now?: () => number
  /** What the venues list; today's world by default. */
  readonly era?: Era
}

interface Simulation {
  readonly market: Market
  readonly faults: Map<string, Fault>
  readonly lastBodies: Map<string, string>
  readonly now: () => number
  era: Era
}

/**
 * Starts one HTTP server that serves the format of every price source under `/<source>/…`. Besides the methods it can
 * be controlled with `POST /control/misbehave?source=&fault=&symbol=`, `POST /control/heal?source=`, `POST /control/era?name=` and
 * `POST /control/price?symbol=&usd=`; `GET /control` prints its prices, faults and era.
 */
export async function startExchangeSimulator(options: ExchangeSimulatorOptions): Promise<ExchangeSimulator> {
  const simulation: Simulation = {
    market: createMarket(options.seedPrices),
    faults: new Map(),
    lastBodies: new Map(),
    now: options.now ?? Date.now,
    era: options.era ?? 'today',
  }
  const server = createServer((request, response) => answer(simulation, request, response))
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(options.port, '127.0.0.1', resolve)
  })
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return {
    url,
    sourceUrls: Object.fromEntries(SOURCES.map((source) => [source, `${url}/${source}`])) as Record<
      SimulatedSource,
      string
    >,
    setPrice: simulation.market.setPrice,
    misbehave: (source, kind, symbol) => void simulation.faults.set(source, { kind, symbol: symbol ?? null }),
    travel(era) {
      simulation.era = era
    },
    heal: (source) => (source === undefined ? simulation.faults.clear() : void simulation.faults.delete(source)),
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
  const { status, body, headers } = replyTo(simulation, request.method ?? 'GET', url, source)
  const transport = TRANSPORT_FAULTS.find((fault) => fault === kind)
  if (transport !== undefined) {
    sendBroken(transport, body, response)
    return
  }
  response.writeHead(status, { 'content-type': 'application/json', ...headers })
  response.end(body)
}

function replyTo(simulation: Simulation, method: string, url: URL, source: SimulatedSource | undefined): Reply {
  try {
    if (source !== undefined) return sourceReply(simulation, source, url)
    return url.pathname.startsWith('/control') ? controlReply(simulation, method, url) : NOT_FOUND
  } catch (error) {
    return { status: 400, body: JSON.stringify({ error: String(error) }) }
  }
}

function sourceReply(simulation: Simulation, source: SimulatedSource, request: URL): Reply {
  const fault = simulation.faults.get(source) ?? null
  const broken = REPLY_FAULTS.find((kind) => kind === fault?.kind)
  if (broken !== undefined) return brokenReply(broken, source, simulation.now())
  simulation.market.step()
  const printed = FORMATS[source]({
    era: simulation.era,
    market: simulation.market,
    fault,
    now: simulation.now(),
    request,
  })
  const fresh = typeof printed === 'string' ? printed : JSON.stringify(printed)
  const key = `${source}${request.pathname}`
  const body = fault?.kind === 'frozen' ? (simulation.lastBodies.get(key) ?? fresh) : bendBody(fresh, fault?.kind)
  simulation.lastBodies.set(key, body)
  const refused = source === 'binance' && body.startsWith('{')
  return { status: refused ? 400 : 200, body, headers: fault?.kind === 'stale' ? { age: '600' } : {} }
}

function controlReply(simulation: Simulation, method: string, url: URL): Reply {
  const { market, faults } = simulation
  const parameter = (name: string) => url.searchParams.get(name) ?? ''
  const state = () =>
    JSON.stringify({ prices: market.prices(), faults: Object.fromEntries(faults), era: simulation.era })
  const source = SOURCES.find((name) => name === parameter('source'))
  if (method === 'GET') return { status: 200, body: state() }
  switch (url.pathname) {
    case '/control/price':
      market.setPrice(parameter('symbol'), positive(parameter('usd')))
      break
    case '/control/era': {
      const era = ERAS.find((name) => name === parameter('name'))
      if (era === undefined) throw new Error(`eras: ${ERAS}`)
      simulation.era = era
      break
    }
    case '/control/heal':
      if (source === undefined) faults.clear()
      else faults.delete(source)
      break
    case '/control/misbehave': {
      const kind = FAULTS.find((name) => name === parameter('fault'))
      if (kind === undefined || source === undefined) throw new Error(`sources: ${SOURCES}; faults: ${FAULTS}`)
      faults.set(source, { kind, symbol: url.searchParams.get('symbol') })
      break
    }
    default:
      return NOT_FOUND
  }
  return { status: 200, body: state() }
}

function positive(text: string): number {
  const value = Number(text)
  if (!(value > 0 && value < 1e12)) throw new Error(`not a price: ${text}`)
  return value
}
