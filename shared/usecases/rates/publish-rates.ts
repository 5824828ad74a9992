import type { RateRepository } from '#shared/db/rates/rate-repository.ts'
import type { Ms } from '#shared/domain/invoice/model.ts'
import { formatDecimal } from '#shared/domain/money/money.ts'
import type { Consensus } from '#shared/domain/rates/consensus.ts'
import { type CrossAlarm, crossCheck } from '#shared/domain/rates/cross-check.ts'
import { LEGS, priceSymbols, type RateSymbol } from '#shared/domain/rates/crypto-board.ts'
import { priceFiats } from '#shared/domain/rates/fiat-board.ts'
import { type GuardMemory, type GuardVerdict, guard, isJump } from '#shared/domain/rates/guard.ts'
import { expectedVotes, pairUses } from '#shared/domain/rates/pair-use.ts'
import { isPlausible } from '#shared/domain/rates/plausible.ts'
import { publishable } from '#shared/domain/rates/price.ts'
import { isFresh, isQuote, type Quote, type Reading } from '#shared/domain/rates/quote.ts'
import type { JumpConfirmation } from '#shared/ports/rate-sources.ts'
import type { PublishedPrice, RateSnapshot } from '#shared/ports/rates.ts'
import type { Uses } from '#shared/usecases/uses.ts'
import { newestSnapshot } from './newest-snapshot.ts'
import { recordSnapshot, recordUse, recordVotes } from './record-use.ts'

/** Dependencies of {@link publishRates}. */
export type PublishRatesDeps = Uses<'clock' | 'logger' | 'metrics'> & {
  readonly rates: Pick<RateRepository, 'insert' | 'latest' | 'latestBefore'>
  readonly jumpConfirmation: JumpConfirmation
}

/**
 * Publishes one snapshot of everything that has a quorum and passes its guards; everything else is absent from it and
 * thus unavailable at once, and nothing is computed with a price that a guard doubts. Publishes nothing, and returns null, when no symbol has a quorum: the
 * last snapshot then expires. The guards' state is read from the last snapshot and carried on in the new one. Counts and stores what became of each reading.
 */
export async function publishRates(deps: PublishRatesDeps, given: readonly Reading[]): Promise<RateSnapshot | null> {
  const now = deps.clock.now()
  const readings = given.map(withoutNonsense)
  const fresh = readings.filter(isQuote).filter((quote) => isFresh(quote, now))
  const memories = (await newestSnapshot(deps.rates, now))?.guards ?? {}
  const cycle: Cycle = { now, memories, verdicts: new Map() }
  const refused = await refusedLegs(deps, cycle, fresh)
  const symbols = priceSymbols(fresh, refused)
  const fiats = priceFiats(fresh, refused.has('USDT') ? null : (symbols.get('USDT')?.price ?? null))
  const uses = pairUses(readings, { symbols, fiats, refused, now })
  const use = recordUse(deps, { readings, uses, now })
  const expected = expectedVotes(uses)
  recordVotes(deps, { board: new Map<string, Consensus>([...symbols, ...fiats]), expected })
  if (symbols.size === 0) {
    const dropped = uses.map(({ source, pair, state }) => `${source} ${pair} ${state}`)
    deps.logger.error({ fresh: fresh.length, dropped }, 'no symbol has a quorum of fresh prices')
    return null
  }
  reportContradictions(deps, crossCheck(fresh, symbols, fiats))
  const usdPerSymbol = await passGuards(deps, cycle, symbols)
  const fiatPerUsd = await passGuards(deps, cycle, fiats)
  const snapshot: RateSnapshot = {
    at: now,
    usdPerSymbol,
    fiatPerUsd: { USD: { price: '1', sources: [], oldestAt: now }, ...fiatPerUsd },
    guards: { ...memories, ...Object.fromEntries([...cycle.verdicts].map(([name, { memory }]) => [name, memory])) },
    expected: Object.fromEntries(expected),
    ...use,
  }
  await deps.rates.insert(snapshot)
  recordSnapshot(deps, snapshot)
  return snapshot
}

/** A price out of all proportion is none: the guards have nothing to compare a first price with. */
function withoutNonsense(reading: Reading): Reading {
  if (!isQuote(reading) || isPlausible(reading.base, reading.quote, reading.price)) return reading
  const { source, base, quote } = reading
  return { source, base, quote, because: 'no_price' }
}

interface Cycle {
  readonly now: Ms
  readonly memories: Readonly<Record<string, GuardMemory>>
  readonly verdicts: Map<string, GuardVerdict>
}

type PublishedPrices = Record<string, PublishedPrice>

/** Stablecoins whose price is a jump that nobody confirmed: books quoted in them are not read. One off its peg has a price, which converts them. */
async function refusedLegs(
  deps: PublishRatesDeps,
  cycle: Cycle,
  fresh: readonly Quote[],
): Promise<ReadonlySet<RateSymbol>> {
  const refused = new Set<RateSymbol>()
  for (const leg of LEGS) {
    const consensus = priceSymbols(fresh, refused).get(leg)
    if (consensus !== undefined && isJump(await verdictOn(deps, cycle, leg, consensus))) refused.add(leg)
  }
  return refused
}

async function passGuards(
  deps: PublishRatesDeps,
  cycle: Cycle,
  board: ReadonlyMap<string, Consensus>,
): Promise<PublishedPrices> {
  const published: PublishedPrices = {}
  for (const [name, consensus] of board) {
    const verdict = await verdictOn(deps, cycle, name, consensus)
    if (consensus.outliers.length > 0) {
      deps.logger.warn({ rate: name, outliers: consensus.outliers }, 'sources left out as outliers')
      for (const source of consensus.outliers) deps.metrics.count('rate_outliers_total', { source })
    }
    if (verdict.reason !== null) {
      deps.metrics.count('rate_guard_total', { rate: name, reason: verdict.reason })
      const price = formatDecimal(publishable(consensus.price))
      deps.logger.warn(
        { rate: name, reason: verdict.reason, price, published: verdict.publish },
        'a rate guard reported',
      )
    }
    if (!verdict.publish) continue
    const price = formatDecimal(publishable(consensus.price))
    const { sources, outliers, oldestAt } = consensus
    published[name] = { price, sources, ...(outliers.length > 0 && { outliers }), oldestAt }
  }
  return published
}

/** Checks one price, once a cycle; a second opinion is requested only on a jump. */
async function verdictOn(
  deps: PublishRatesDeps,
  { now, memories, verdicts }: Cycle,
  name: string,
  consensus: Consensus,
): Promise<GuardVerdict> {
  const known = verdicts.get(name)
  if (known !== undefined) return known
  const { price, receivedAt } = consensus
  const input = { name, price, now, receivedAt, memory: memories[name] ?? null }
  const first = guard({ ...input, confirmed: null })
  const isDoubtful = first.memory.candidate !== null
  const confirmed = isDoubtful ? await deps.jumpConfirmation.agrees(name, price) : null
  const verdict = isDoubtful ? guard({ ...input, confirmed }) : first
  verdicts.set(name, verdict)
  return verdict
}

function reportContradictions(deps: PublishRatesDeps, alarms: readonly CrossAlarm[]): void {
  for (const { source, pair, direct, crossed } of alarms) {
    deps.metrics.count('rate_cross_check_total', { source, pair })
    const prices = { direct: formatDecimal(direct), crossed: formatDecimal(crossed) }
    deps.logger.warn({ source, pair, ...prices }, 'a direct market contradicts the price of two legs')
  }
}
