import { type Decimal, multiply } from '#shared/domain/money/decimal.ts'
import { agree, type Consensus, type Vote, type VoteRule } from './consensus.ts'
import { observedAt, type Quote } from './quote.ts'

/** The symbols that are priced; every asset id maps to one of them. */
export const RATE_SYMBOLS = ['BTC', 'LTC', 'DOGE', 'ETH', 'BNB', 'POL', 'TRX', 'SOL', 'USDT', 'USDC'] as const
export type RateSymbol = (typeof RATE_SYMBOLS)[number]

/** Symbols pegged to one dollar: tighter outliers and a guard against losing the peg. */
export const STABLECOINS: ReadonlySet<string> = new Set(['USDT', 'USDC'])

const MIN_VOTES = 3
const COIN_RULE: VoteRule = { maxDeviation: { digits: 3n, scale: 2 }, minVotes: MIN_VOTES }
const STABLECOIN_RULE: VoteRule = { maxDeviation: { digits: 1n, scale: 2 }, minVotes: MIN_VOTES }

/** USD per unit by symbol; a symbol without a quorum is absent. */
export type CryptoBoard = ReadonlyMap<RateSymbol, Consensus>

/**
 * Prices every symbol in USD from fresh quotes. USDT comes only from true USD books; with its price the USDT-quoted
 * books are converted to USD, without it they are left out: they are never read as if they were USD. A source votes once per
 * symbol, by its USD book when it has one.
 */
export function priceSymbols(fresh: readonly Quote[]): CryptoBoard {
  const board = new Map<RateSymbol, Consensus>()
  const tether = agree(votesFor('USDT', fresh, null), STABLECOIN_RULE)
  if (tether !== null) board.set('USDT', tether)
  for (const symbol of RATE_SYMBOLS) {
    if (symbol === 'USDT') continue
    const consensus = agree(
      votesFor(symbol, fresh, tether?.price ?? null),
      STABLECOINS.has(symbol) ? STABLECOIN_RULE : COIN_RULE,
    )
    if (consensus !== null) board.set(symbol, consensus)
  }
  return board
}

function votesFor(symbol: RateSymbol, fresh: readonly Quote[], usdPerTether: Decimal | null): readonly Vote[] {
  const votes = new Map<string, Vote>()
  for (const quote of fresh) {
    if (quote.base !== symbol) continue
    if (quote.quote === 'USD') votes.set(quote.source, voteOf(quote, quote.price))
    else if (quote.quote === 'USDT' && usdPerTether !== null && !votes.has(quote.source)) {
      votes.set(quote.source, voteOf(quote, multiply(quote.price, usdPerTether)))
    }
  }
  return [...votes.values()]
}

function voteOf(quote: Quote, price: Decimal): Vote {
  return { source: quote.source, price, observedAt: observedAt(quote) }
}
