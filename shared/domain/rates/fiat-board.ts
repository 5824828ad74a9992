import type { Decimal } from '#shared/domain/money/money.ts'
import { agree, type Consensus, type Vote, type VoteRule } from './consensus.ts'
import { inverse, quotient } from './price.ts'
import { type Feed, observedAt, type Quote } from './quote.ts'

/** The fiat columns besides USD; the Argentine peso has two prices that are never mixed. */
export const FX_SERIES = ['EUR', 'GBP', 'BRL', 'MXN', 'COP', 'CLP', 'PEN', 'DOP', 'ARS:crypto', 'ARS:official'] as const
export type FxSeries = (typeof FX_SERIES)[number]

/** Fiat per one USD by series; a series without a quorum is absent. */
export type FiatBoard = ReadonlyMap<FxSeries, Consensus>

/** Least number of sources of a fiat's price. */
export const FX_QUORUM = 2

/** Sources that vote first, and those used only when the first have no quorum. */
interface FxPolicy extends VoteRule {
  readonly reserve: ReadonlySet<string>
}

const NONE: ReadonlySet<string> = new Set()
/** European order books trade every second, so street rates and daily tables are only a fallback. */
const EUROPE: FxPolicy = { minVotes: FX_QUORUM, maxDeviation: perMille(10), reserve: new Set(['yadio', 'open-er-api']) }
const LATAM_LIVE: FxPolicy = { minVotes: FX_QUORUM, maxDeviation: perMille(15), reserve: NONE }
const LATAM: FxPolicy = { minVotes: FX_QUORUM, maxDeviation: perMille(20), reserve: NONE }
const ARGENTINA: FxPolicy = { minVotes: FX_QUORUM, maxDeviation: perMille(30), reserve: NONE }

const POLICIES: Readonly<Record<FxSeries, FxPolicy>> = {
  EUR: EUROPE,
  GBP: EUROPE,
  BRL: LATAM_LIVE,
  MXN: LATAM_LIVE,
  COP: LATAM,
  CLP: LATAM,
  PEN: LATAM,
  DOP: LATAM,
  'ARS:crypto': { ...ARGENTINA, reserve: new Set(['dolar-api']) },
  'ARS:official': ARGENTINA,
}

/**
 * Fiat per USD from fresh quotes: tables unchanged, `EUR/USD` books inverted, `USDT/BRL` books divided by the
 * market price of USDT (left out without one). At least two sources must agree and not all of them may be daily tables.
 */
export function priceFiats(fresh: readonly Quote[], usdPerTether: Decimal | null): FiatBoard {
  const board = new Map<FxSeries, Consensus>()
  for (const series of FX_SERIES) {
    const votes = fxVotesFor(series, fresh, usdPerTether)
    const policy = POLICIES[series]
    const consensus =
      agreeOnFiat(
        votes.filter((vote) => !policy.reserve.has(vote.source)),
        policy,
      ) ?? agreeOnFiat(votes, policy)
    if (consensus !== null) board.set(series, consensus)
  }
  return board
}

/** Whether a source votes on this series only while the others have no quorum. */
export function isReserve(series: FxSeries, source: string): boolean {
  return POLICIES[series].reserve.has(source)
}

type FxVote = Vote & { readonly feed: Feed }

function agreeOnFiat(votes: readonly FxVote[], rule: VoteRule): Consensus | null {
  const consensus = agree(votes, rule)
  if (consensus === null) return null
  const live = votes.some((vote) => vote.feed !== 'daily' && consensus.sources.includes(vote.source))
  return live ? consensus : null
}

function fxVotesFor(series: FxSeries, fresh: readonly Quote[], usdPerTether: Decimal | null): readonly FxVote[] {
  const votes = new Map<string, FxVote>()
  for (const quote of fresh) {
    const price = fiatPerUsd(quote, series, usdPerTether)
    // A source with both a USD and a USDT book votes with the USD one: no second price enters the conversion.
    if (price === null || (votes.has(quote.source) && quote.base === 'USDT')) continue
    const { source, receivedAt, feed } = quote
    votes.set(source, { source, price, observedAt: observedAt(quote), receivedAt, feed })
  }
  return [...votes.values()]
}

function fiatPerUsd(quote: Quote, series: FxSeries, usdPerTether: Decimal | null): Decimal | null {
  if (quote.base === 'USD' && quote.quote === series) return quote.price
  if (quote.base === series && quote.quote === 'USD') return inverse(quote.price)
  if (quote.base === 'USDT' && quote.quote === series && usdPerTether !== null) {
    return quotient(quote.price, usdPerTether)
  }
  return null
}

/** A share in per mille as an exact decimal: 15 → 1.5 %. */
function perMille(share: number): Decimal {
  return { digits: BigInt(share), scale: 3 }
}
