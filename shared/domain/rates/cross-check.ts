import { type Decimal, multiply } from '#shared/domain/money/money.ts'
import { type CryptoBoard, RATE_SYMBOLS, type RateSymbol } from './crypto-board.ts'
import { type FiatBoard, FX_SERIES, type FxSeries } from './fiat-board.ts'
import { deviatesMoreThan } from './price.ts'
import type { Quote } from './quote.ts'

/** A direct market that contradicts a price made of two legs. */
export interface CrossAlarm {
  readonly source: string
  /** As `BTC/EUR`. */
  readonly pair: string
  readonly direct: Decimal
  readonly crossed: Decimal
}

/** European order books are deep; those of Latin America deviate more from the dollar. */
const EUROPE: ReadonlySet<FxSeries> = new Set(['EUR', 'GBP'])
const EUROPE_LIMIT: Decimal = { digits: 2n, scale: 2 }
const LATAM_LIMIT: Decimal = { digits: 5n, scale: 2 }

/**
 * Direct books of a coin in a fiat other than USD that deviate by more than 2 % (5 % in Latin America) from the product of the
 * coin's USD price and the fiat's. They never enter a price, so that one asset has no two prices; they only show that a
 * leg may be wrong. Pairs without both legs, and USDT's, whose books are already votes for the fiat leg, are left out.
 */
export function crossCheck(fresh: readonly Quote[], symbols: CryptoBoard, fiats: FiatBoard): readonly CrossAlarm[] {
  return fresh.flatMap((quote) => {
    const series = FX_SERIES.find((name) => name === quote.quote)
    const symbol = RATE_SYMBOLS.find((name): name is RateSymbol => name === quote.base && name !== 'USDT')
    const coin = symbol === undefined ? undefined : symbols.get(symbol)
    const fiat = series === undefined ? undefined : fiats.get(series)
    if (series === undefined || coin === undefined || fiat === undefined) return []
    const crossed = multiply(coin.price, fiat.price)
    const limit = EUROPE.has(series) ? EUROPE_LIMIT : LATAM_LIMIT
    if (!deviatesMoreThan(quote.price, crossed, limit)) return []
    return [{ source: quote.source, pair: `${quote.base}/${quote.quote}`, direct: quote.price, crossed }]
  })
}
