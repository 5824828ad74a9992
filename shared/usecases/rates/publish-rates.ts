import type { RateRepository } from '#shared/db/rates/rate-repository.ts'
import type { Ms } from '#shared/domain/invoice/model.ts'
import { formatDecimal } from '#shared/domain/money/decimal.ts'
import type { Consensus } from '#shared/domain/rates/consensus.ts'
import { type CrossAlarm, crossCheck } from '#shared/domain/rates/cross-check.ts'
import { type CryptoBoard, priceSymbols, RATE_SYMBOLS } from '#shared/domain/rates/crypto-board.ts'
import { FX_SERIES, priceFiats } from '#shared/domain/rates/fiat-board.ts'
import { type GuardMemory, type GuardVerdict, guard } from '#shared/domain/rates/guard.ts'
import { publishable } from '#shared/domain/rates/price.ts'
import { isFresh, type Quote } from '#shared/domain/rates/quote.ts'
import type { JumpConfirmation } from '#shared/ports/rate-sources.ts'
import type { PublishedPrice, RateSnapshot } from '#shared/ports/rates.ts'
import type { Uses } from '#shared/usecases/uses.ts'
import { newestSnapshot } from './newest-snapshot.ts'

/** Dependencies of {@link publishRates}. */
export type PublishRatesDeps = Uses<'clock' | 'logger' | 'metrics'> & {
  readonly rates: Pick<RateRepository, 'insert' | 'latest' | 'latestBefore'>
  readonly jumpConfirmation: JumpConfirmation
}

/**
 * Publishes one snapshot of everything that has a quorum and passes its guards; everything else is absent from it and
 * thus unavailable at once. Publishes nothing, and returns null, when no symbol has a quorum: the last snapshot then
 * expires. The guards' state is read from the last snapshot and carried on in the new one.
 */
export async function publishRates(deps: PublishRatesDeps, quotes: readonly Quote[]): Promise<RateSnapshot | null> {
  const now = deps.clock.now()
  const fresh = quotes.filter((quote) => isFresh(quote, now))
  const symbols = priceSymbols(fresh)
  recordAvailability(deps, symbols)
  if (symbols.size === 0) {
    deps.logger.error({ quotes: quotes.length, fresh: fresh.length }, 'no symbol has a quorum of fresh prices')
    return null
  }
  const fiats = priceFiats(fresh, symbols.get('USDT')?.price ?? null)
  reportContradictions(deps, crossCheck(fresh, symbols, fiats))
  const memories = (await newestSnapshot(deps.rates, now))?.guards ?? {}
  const cycle: Cycle = { now, memories, guards: { ...memories } }
  const usdPerSymbol = await passGuards(deps, cycle, symbols)
  const fiatPerUsd = await passGuards(deps, cycle, fiats)
  const snapshot: RateSnapshot = {
    at: now,
    usdPerSymbol,
    fiatPerUsd: { USD: { price: '1', sources: [], oldestAt: now }, ...fiatPerUsd },
    guards: cycle.guards,
    heardAt: heardAt(quotes),
  }
  await deps.rates.insert(snapshot)
  recordAges(deps, snapshot)
  return snapshot
}

function heardAt(quotes: readonly Quote[]): Readonly<Record<string, Ms>> {
  const heard: Record<string, Ms> = {}
  for (const { source, receivedAt } of quotes) heard[source] = Math.max(heard[source] ?? 0, receivedAt)
  return heard
}

interface Cycle {
  readonly now: Ms
  readonly memories: Readonly<Record<string, GuardMemory>>
  readonly guards: Record<string, GuardMemory>
}

type Published = Record<string, PublishedPrice>

async function passGuards(
  deps: PublishRatesDeps,
  cycle: Cycle,
  board: ReadonlyMap<string, Consensus>,
): Promise<Published> {
  const published: Published = {}
  for (const [name, consensus] of board) {
    const verdict = await evaluate(deps, cycle, name, consensus)
    cycle.guards[name] = verdict.memory
    if (consensus.outliers.length > 0) {
      deps.logger.warn({ rate: name, outliers: consensus.outliers }, 'sources left out as outliers')
      for (const source of consensus.outliers) deps.metrics.count('rate_outliers_total', { source })
    }
    if (verdict.reason !== null) {
      deps.metrics.count('rate_guard_total', { rate: name, reason: verdict.reason })
      deps.logger.warn({ rate: name, reason: verdict.reason, published: verdict.publish }, 'a rate guard reported')
    }
    if (!verdict.publish) continue
    const price = formatDecimal(publishable(consensus.price))
    const { sources, outliers, oldestAt } = consensus
    published[name] = { price, sources, ...(outliers.length > 0 && { outliers }), oldestAt }
  }
  return published
}

/** Checks one price; the aggregator is queried only about a jump that no other check accepts. */
async function evaluate(
  deps: PublishRatesDeps,
  cycle: Cycle,
  name: string,
  consensus: Consensus,
): Promise<GuardVerdict> {
  const memory = cycle.memories[name] ?? null
  const input = { name, price: consensus.price, now: cycle.now, memory, confirmed: false }
  const verdict = guard(input)
  if (verdict.reason !== 'jump_refused') return verdict
  return (await deps.jumpConfirmation.agrees(name, consensus.price)) ? guard({ ...input, confirmed: true }) : verdict
}

function reportContradictions(deps: PublishRatesDeps, alarms: readonly CrossAlarm[]): void {
  for (const { source, pair, direct, crossed } of alarms) {
    deps.metrics.count('rate_cross_check_total', { source, pair })
    const prices = { direct: formatDecimal(direct), crossed: formatDecimal(crossed) }
    deps.logger.warn({ source, pair, ...prices }, 'a direct market contradicts the price of two legs')
  }
}

function recordAvailability(deps: PublishRatesDeps, symbols: CryptoBoard): void {
  for (const symbol of RATE_SYMBOLS) {
    deps.metrics.gauge('rate_sources', symbols.get(symbol)?.sources.length ?? 0, { rate: symbol })
  }
}

function recordAges(deps: PublishRatesDeps, snapshot: RateSnapshot): void {
  deps.metrics.count('rate_snapshots_total')
  for (const symbol of RATE_SYMBOLS) {
    const leg = snapshot.usdPerSymbol[symbol]
    deps.metrics.gauge('rate_available', leg === undefined ? 0 : 1, { rate: symbol })
    if (leg !== undefined) deps.metrics.gauge('rate_age_seconds', (snapshot.at - leg.oldestAt) / 1000, { rate: symbol })
  }
  for (const series of FX_SERIES) {
    const leg = snapshot.fiatPerUsd[series]
    deps.metrics.gauge('rate_available', leg === undefined ? 0 : 1, { rate: series })
    if (leg !== undefined) deps.metrics.gauge('rate_age_seconds', (snapshot.at - leg.oldestAt) / 1000, { rate: series })
  }
}
