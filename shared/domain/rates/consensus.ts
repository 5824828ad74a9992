import type { Ms } from '#shared/domain/invoice/model.ts'
import { compare, type Decimal } from '#shared/domain/money/decimal.ts'
import { deviatesMoreThan, mean } from './price.ts'

/** The price of one independent source, already in the unit of the vote. One vote per company. */
export interface Vote {
  readonly source: string
  readonly price: Decimal
  readonly observedAt: Ms
}

/** How strict a vote is. */
export interface VoteRule {
  /** Votes further than this share from the first median are left out. */
  readonly maxDeviation: Decimal
  /** Votes that must remain; besides, at least half of those given. */
  readonly minVotes: number
}

/** A price with a sufficient number of sources. */
export interface Consensus {
  readonly price: Decimal
  /** Names of the votes inside the median, sorted. */
  readonly sources: readonly string[]
  /** Names of the votes that were left out as outliers, sorted. */
  readonly outliers: readonly string[]
  /** The oldest vote inside the median. */
  readonly oldestAt: Ms
}

/**
 * The median of the votes, without those too far from it, computed again. Null when fewer than the rule's minimum or
 * fewer than half of all votes are left: two contradictory groups give no price instead of an arbitrary one.
 * One wild vote among four or more never moves the result outside the range of the others.
 */
export function agree(votes: readonly Vote[], rule: VoteRule): Consensus | null {
  if (votes.length < rule.minVotes) return null
  const first = medianOf(votes)
  const kept = votes.filter((vote) => !deviatesMoreThan(vote.price, first, rule.maxDeviation))
  if (kept.length < rule.minVotes || kept.length * 2 < votes.length) return null
  return {
    price: medianOf(kept),
    sources: namesOf(kept),
    outliers: namesOf(votes.filter((vote) => !kept.includes(vote))),
    oldestAt: kept.map((vote) => vote.observedAt).sort((left, right) => left - right)[0] ?? 0,
  }
}

/** Middle price of at least one vote; the exact mean of the two middle ones when their number is even. */
function medianOf(votes: readonly Vote[]): Decimal {
  const prices = votes.map((vote) => vote.price).sort(compare)
  const upper = prices[prices.length >> 1]
  const lower = prices[(prices.length - 1) >> 1]
  if (upper === undefined || lower === undefined) throw new RangeError('a median of no votes')
  return prices.length % 2 === 1 ? upper : mean(lower, upper)
}

function namesOf(votes: readonly Vote[]): readonly string[] {
  return votes.map((vote) => vote.source).sort()
}
