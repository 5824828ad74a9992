import type { Ms } from '#shared/domain/invoice/model.ts'
import { compare, type Decimal } from '#shared/domain/money/money.ts'
import { deviatesMoreThan, mean } from './price.ts'

/** The price of one independent source, already in the unit of the vote. One vote per company. */
export interface Vote {
  readonly source: string
  readonly price: Decimal
  readonly observedAt: Ms
  readonly receivedAt: Ms
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
  /** When the last vote inside the median was received. */
  readonly receivedAt: Ms
}

/**
 * The median of the votes, without those too far from it, computed again. Null when fewer than the rule's minimum or
 * fewer than half of all votes are left, and when the two middle ones of an even number are further from each other than the rule allows:
 * two contradictory groups, of one vote each or of several, give no price instead of one that is nobody's.
 * One wild vote among four or more never moves the result outside the range of the others.
 */
export function agree(votes: readonly Vote[], rule: VoteRule): Consensus | null {
  if (votes.length < rule.minVotes) return null
  const first = medianOf(middleOf(votes))
  const kept = votes.filter((vote) => !deviatesMoreThan(vote.price, first, rule.maxDeviation))
  if (kept.length < rule.minVotes || kept.length * 2 < votes.length) return null
  const middle = middleOf(kept)
  if (deviatesMoreThan(middle.upper, middle.lower, rule.maxDeviation)) return null
  return {
    price: medianOf(middle),
    sources: namesOf(kept),
    outliers: namesOf(votes.filter((vote) => !kept.includes(vote))),
    oldestAt: inOrder(kept.map((vote) => vote.observedAt))[0] ?? 0,
    receivedAt: inOrder(kept.map((vote) => vote.receivedAt)).at(-1) ?? 0,
  }
}

interface Middle {
  readonly lower: Decimal
  readonly upper: Decimal
}

/** The two middle prices of at least one vote; the same price twice when their number is odd. */
function middleOf(votes: readonly Vote[]): Middle {
  const prices = votes.map((vote) => vote.price).sort(compare)
  const upper = prices[prices.length >> 1]
  const lower = prices[(prices.length - 1) >> 1]
  if (upper === undefined || lower === undefined) throw new RangeError('a median of no votes')
  return { lower, upper }
}

/** The exact mean of the two middle prices. */
function medianOf({ lower, upper }: Middle): Decimal {
  return lower === upper ? upper : mean(lower, upper)
}

function inOrder(times: readonly Ms[]): readonly Ms[] {
  return [...times].sort((left, right) => left - right)
}

function namesOf(votes: readonly Vote[]): readonly string[] {
  return votes.map((vote) => vote.source).sort()
}
