import { parseDecimal } from '#shared/domain/money/money.ts'
import type { Quote } from '#shared/domain/rates/quote.ts'
import type { JumpConfirmation } from '#shared/ports/rate-sources.ts'
import type { RateSnapshot } from '#shared/ports/rates.ts'
import { publishRates } from '#shared/usecases/rates/publish-rates.ts'

/** What sources say that do not lie. */
export const HONEST = 70_000

const VENUES = ['kraken', 'coinbase', 'bitstamp', 'okx', 'binance', 'bitfinex']
const SILENT = { debug() {}, info() {}, warn() {}, error() {}, child: () => SILENT }

/** A walk of some sources that say the same wrong price of bitcoin. */
export interface Walk {
  readonly liars: number
  readonly of: number
  /** By how much they raise it each cycle, in per cent. */
  readonly stepPercent: number
  readonly cycles: number
  /** Patient liars stay where they were believed last, and try again. */
  readonly isPatient?: boolean
  readonly agrees: JumpConfirmation['agrees']
}

/** How far above the honest price the published one came at most, in per cent with one decimal. */
export async function highestOf(walk: Walk): Promise<number> {
  const world = { now: 1_800_000_000_000 }
  let last: RateSnapshot | null = null
  const deps = {
    clock: { now: () => world.now },
    logger: SILENT,
    metrics: { count() {}, gauge() {}, observe() {} },
    jumpConfirmation: { agrees: walk.agrees },
    rates: {
      latest: async () => last,
      latestBefore: async () => last,
      insert: async (snapshot: RateSnapshot) => {
        last = snapshot
      },
    },
  }
  let believed = 1
  let factor = 1
  let highest = 0
  for (let cycle = 0; cycle < walk.cycles; cycle += 1) {
    const books = VENUES.slice(0, walk.of).map((source, index) =>
      book(source, 'BTC', HONEST * (index < walk.liars ? factor : 1), world.now),
    )
    const tether = VENUES.slice(0, 3).map((source) => book(source, 'USDT', 1, world.now))
    const snapshot = await publishRates(deps, [...books, ...tether])
    const price = Number(snapshot?.usdPerSymbol['BTC']?.price ?? HONEST)
    highest = Math.max(highest, (price / HONEST - 1) * 100)
    if (snapshot?.usdPerSymbol['BTC'] !== undefined) believed = factor
    // One more cycle with the same price: what must be seen twice is seen twice.
    const isRetried = walk.isPatient === true && believed !== factor && cycle % 2 === 1
    if (!isRetried) factor = (walk.isPatient === true ? believed : factor) * (1 + walk.stepPercent / 100)
    world.now += 15_000
  }
  return Math.round(highest * 10) / 10
}

function book(source: string, base: string, price: number, at: number): Quote {
  const quote = { source, base, quote: 'USD', feed: 'book' as const, receivedAt: at, sourceAt: null }
  return { ...quote, price: parseDecimal(price.toFixed(6)) }
}
