import { type Decimal, multiply } from '#shared/domain/money/money.ts'
import { agree, type Consensus, type Vote, type VoteRule } from './consensus.ts'
import { observedAt, type Quote } from './quote.ts'

/** The symbols that are priced; every asset id maps to one of them. */
export const RATE_SYMBOLS = ['BTC', 'LTC', 'DOGE', 'ETH', 'BNB', 'POL', 'TRX', 'SOL', 'USDT', 'USDC'] as const
export type RateSymbol = (typeof RATE_SYMBOLS)[number]

/** Symbols pegged to one dollar: tighter outliers and a guard against losing the peg. */
export const STABLECOINS: ReadonlySet<string> = new Set(['USDT', 'USDC'])

/** The stablecoins that books of other coins are quoted in, each priced before what it converts. */
export const LEGS = ['USDT', 'USDC'] as const satisfies readonly RateSymbol[]

/** Least number of sources of a coin's price. */
export const COIN_QUORUM = 3
const COIN_RULE: VoteRule = { maxDeviation: { digits: 3n, scale: 2 }, minVotes: COIN_QUORUM }
const STABLECOIN_RULE: VoteRule = { maxDeviation: { digits: 1n, scale: 2 }, minVotes: COIN_QUORUM }

/** The books of a coin that a source may vote with, the first one that it has first. USDC comes before USDT: most USDT books are Binance's vote. */
export const BOOK_ORDER: readonly string[] = ['USD', 'USDC', 'USDT']

/** USD per unit by symbol; a symbol without a quorum is absent. */
export type CryptoBoard = ReadonlyMap<RateSymbol, Consensus>

const NONE: ReadonlySet<string> = new Set()

/**
 * Prices every symbol in USD from fresh quotes. USDT comes only from true USD books; books in USDT or USDC are converted to USD by the price of that
 * coin, and left out without one or while it is in `refused`: they are never read as if they were USD. A source votes once per
 * symbol, by its USD book when it has one.
 */
export function priceSymbols(fresh: readonly Quote[], refused: ReadonlySet<string> = NONE): CryptoBoard {
  const board = new Map<RateSymbol, Consensus>()
  const dollars = new Map<string, Decimal>([['USD', { digits: 1n, scale: 0 }]])
  const inOrder = [...LEGS, ...RATE_SYMBOLS.filter((symbol) => !STABLECOINS.has(symbol))]
  for (const symbol of inOrder) {
    const rule = STABLECOINS.has(symbol) ? STABLECOIN_RULE : COIN_RULE
    const consensus = agree(votesFor(symbol, fresh, dollars), rule)
    if (consensus === null) continue
    board.set(symbol, consensus)
    if (STABLECOINS.has(symbol) && !refused.has(symbol)) dollars.set(symbol, consensus.price)
  }
  return board
}

function votesFor(symbol: RateSymbol, fresh: readonly Quote[], dollars: ReadonlyMap<string, Decimal>): readonly Vote[] {
  const votes = new Map<string, Vote>()
  for (const unit of BOOK_ORDER) {
    const dollar = dollars.get(unit)
    if (dollar === undefined) continue
    for (const quote of fresh) {
      if (quote.base !== symbol || quote.quote !== unit || votes.has(quote.source)) continue
      const price = multiply(quote.price, dollar)
      const { source, receivedAt } = quote
      votes.set(source, { source, price, observedAt: observedAt(quote), receivedAt })
    }
  }
  return [...votes.values()]
}
