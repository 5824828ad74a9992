import type { Ms } from '#shared/domain/invoice/model.ts'
import { BOOK_ORDER, COIN_QUORUM, type CryptoBoard, LEGS, RATE_SYMBOLS, type RateSymbol } from './crypto-board.ts'
import { type FiatBoard, FX_QUORUM, FX_SERIES, type FxSeries, isReserve } from './fiat-board.ts'
import { type DropReason, isQuote, type Quote, type Reading, staleness } from './quote.ts'

/** What became of one pair of one source in a cycle. */
export interface PairUse {
  readonly source: string
  /** As `BTC/USD`. */
  readonly pair: string
  /** The rate that it votes on; null for a pair that only checks. */
  readonly rate: RateSymbol | FxSeries | null
  /** `used` = inside the median; `spare` = usable, and not needed: a reserve, or another book of its source voted; `check` = never a vote. Otherwise why it has no part. */
  readonly state: 'used' | 'spare' | 'check' | DropReason
}

/** The boards of a cycle, the stablecoins that convert nothing, and its time. */
interface Outcome {
  readonly symbols: CryptoBoard
  readonly fiats: FiatBoard
  readonly refused: ReadonlySet<string>
  readonly now: Ms
}

/** What became of every reading: each is used, spare, a check, or dropped for a reason. */
export function pairUses(readings: readonly Reading[], outcome: Outcome): readonly PairUse[] {
  const fresh = readings.filter(isQuote).filter((quote) => staleness(quote, outcome.now) === null)
  return readings.map((reading) => {
    const { source, base, quote } = reading
    const rate = rateOf(base, quote)
    return { source, pair: `${base}/${quote}`, rate, state: stateOf(reading, rate, fresh, outcome) }
  })
}

/** Least number of sources of a rate. */
export function quorumOf(rate: RateSymbol | FxSeries): number {
  return isSymbol(rate) ? COIN_QUORUM : FX_QUORUM
}

/** How many sources are expected to vote on each rate while all is well; reserves are not. */
export function expectedVotes(uses: readonly PairUse[]): ReadonlyMap<RateSymbol | FxSeries, number> {
  const sources = new Map<RateSymbol | FxSeries, Set<string>>()
  for (const { source, rate } of uses) {
    if (rate === null || (!isSymbol(rate) && isReserve(rate, source))) continue
    sources.set(rate, (sources.get(rate) ?? new Set()).add(source))
  }
  return new Map([...sources].map(([rate, names]) => [rate, names.size]))
}

function stateOf(reading: Reading, rate: PairUse['rate'], fresh: readonly Quote[], outcome: Outcome): PairUse['state'] {
  if (!isQuote(reading)) return reading.because
  const stale = staleness(reading, outcome.now)
  if (stale !== null) return stale
  if (rate === null) return 'check'
  const leg = legOf(reading)
  if (leg !== null && (outcome.refused.has(leg) || !outcome.symbols.has(leg))) return 'peg'
  if (fresh.some((other) => isPreferred(other, reading, rate, outcome))) return 'spare'
  const consensus = isSymbol(rate) ? outcome.symbols.get(rate) : outcome.fiats.get(rate)
  if (consensus === undefined) return 'alone'
  if (consensus.sources.includes(reading.source)) return 'used'
  return consensus.outliers.includes(reading.source) ? 'outlier' : 'spare'
}

/** Another usable book of the same source and rate votes instead. */
function isPreferred(other: Quote, quote: Quote, rate: RateSymbol | FxSeries, outcome: Outcome): boolean {
  if (other.source !== quote.source || other === quote || rateOf(other.base, other.quote) !== rate) return false
  const leg = legOf(other)
  if (leg !== null && (outcome.refused.has(leg) || !outcome.symbols.has(leg))) return false
  return rankOf(other) < rankOf(quote)
}

/** Books in dollars come first, then by the stablecoin. */
function rankOf(quote: Quote): number {
  return BOOK_ORDER.indexOf(legOf(quote) ?? 'USD')
}

/** The stablecoin whose price converts this quote; null for one in dollars. */
function legOf({ base, quote }: Quote): (typeof LEGS)[number] | null {
  return LEGS.find((leg) => leg === quote || (leg === base && quote !== 'USD' && !isLeg(quote))) ?? null
}

function isLeg(code: string): boolean {
  return LEGS.some((leg) => leg === code)
}

function rateOf(base: string, quote: string): RateSymbol | FxSeries | null {
  if (BOOK_ORDER.includes(quote)) {
    const series = quote === 'USD' ? FX_SERIES.find((name) => name === base) : undefined
    return series ?? RATE_SYMBOLS.find((symbol) => symbol === base) ?? null
  }
  return base === 'USD' || base === 'USDT' ? (FX_SERIES.find((name) => name === quote) ?? null) : null
}

function isSymbol(rate: RateSymbol | FxSeries): rate is RateSymbol {
  return RATE_SYMBOLS.some((symbol) => symbol === rate)
}
