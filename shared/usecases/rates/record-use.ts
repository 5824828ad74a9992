import type { Ms } from '#shared/domain/invoice/model.ts'
import { clockOffset } from '#shared/domain/rates/clock-offset.ts'
import type { Consensus } from '#shared/domain/rates/consensus.ts'
import { RATE_SYMBOLS } from '#shared/domain/rates/crypto-board.ts'
import { FX_SERIES } from '#shared/domain/rates/fiat-board.ts'
import { type PairUse, quorumOf } from '#shared/domain/rates/pair-use.ts'
import { type DropReason, isQuote, type Reading } from '#shared/domain/rates/quote.ts'
import type { RateSnapshot, SourceUse } from '#shared/ports/rates.ts'
import type { Uses } from '#shared/usecases/uses.ts'

/** Prices of a source whose clock is further ahead of ours are not used; ours is named when it is as far off. */
export const CLOCK_OFF_MS = 5_000

/** What a cycle made of its readings, as a snapshot stores it. */
export type CycleUse = Pick<RateSnapshot, 'sources' | 'clockOffsetMs'>

const RATES = [...RATE_SYMBOLS, ...FX_SERIES]

/** The agreed prices of a cycle, and how many sources each should have. */
interface Votes {
  readonly board: ReadonlyMap<string, Consensus>
  readonly expected: ReadonlyMap<string, number>
}

/** Counts what became of each reading and returns it by source. Health is use: a source that responds and whose prices are not used shows here. */
export function recordUse(
  deps: Uses<'logger' | 'metrics'>,
  {
    readings,
    uses,
    now,
  }: { readonly readings: readonly Reading[]; readonly uses: readonly PairUse[]; readonly now: Ms },
): CycleUse {
  for (const { source, pair, state } of uses) {
    const isDropped = isDrop(state)
    deps.metrics.gauge('rate_pair_used', isDropped ? 0 : 1, { source, pair })
    if (isDropped) deps.metrics.count('rate_pair_dropped_total', { source, pair, reason: state })
  }
  const clockOffsetMs = clockOffset(readings)
  // An offset that is not known any more must not stay the last one.
  deps.metrics.gauge('rate_clock_offset_seconds', clockOffsetMs === null ? Number.NaN : clockOffsetMs / 1_000)
  if (clockOffsetMs !== null && Math.abs(clockOffsetMs) > CLOCK_OFF_MS) deps.logger.error({ clockOffsetMs }, CLOCK_TEXT)
  return { sources: usesBySource(readings, uses, now), clockOffsetMs }
}

const CLOCK_TEXT = 'the clock of this installation differs from those of the price sources'

/** Counts how many sources agree on each rate, should vote on it, and are needed. */
export function recordVotes({ metrics }: Uses<'metrics'>, votes: Votes): void {
  for (const rate of RATES) {
    metrics.gauge('rate_sources', votes.board.get(rate)?.sources.length ?? 0, { rate })
    metrics.gauge('rate_sources_expected', votes.expected.get(rate) ?? 0, { rate })
    metrics.gauge('rate_sources_min', quorumOf(rate), { rate })
  }
}

/** Counts a published snapshot, and the ages of its rates. */
export function recordSnapshot({ metrics }: Uses<'metrics'>, snapshot: RateSnapshot): void {
  metrics.count('rate_snapshots_total')
  const legs: Readonly<Record<string, { readonly oldestAt: Ms } | undefined>> = {
    ...snapshot.usdPerSymbol,
    ...snapshot.fiatPerUsd,
  }
  for (const rate of RATES) {
    const leg = legs[rate]
    metrics.gauge('rate_available', leg === undefined ? 0 : 1, { rate })
    if (leg !== undefined) metrics.gauge('rate_age_seconds', (snapshot.at - leg.oldestAt) / 1_000, { rate })
  }
}

/** Whether the state of a pair is a reason why it has no part in prices. */
function isDrop(state: PairUse['state']): state is DropReason {
  return state !== 'used' && state !== 'spare' && state !== 'check'
}

function usesBySource(
  readings: readonly Reading[],
  uses: readonly PairUse[],
  now: Ms,
): Readonly<Record<string, SourceUse>> {
  const names = [...new Set(readings.map(({ source }) => source))].sort()
  return Object.fromEntries(
    names.map((name) => {
      const own = uses.filter(({ source }) => source === name)
      const heard = readings.filter(isQuote).filter(({ source }) => source === name)
      const dropped = own.flatMap(({ pair, state }) => (isDrop(state) ? [[pair, state] as const] : []))
      const use: SourceUse = {
        heardAt: heard.length === 0 ? null : Math.min(now, Math.max(...heard.map(({ receivedAt }) => receivedAt))),
        expected: own.filter(({ rate, state }) => rate !== null && state !== 'spare').length,
        used: own.filter(({ state }) => state === 'used').length,
        dropped: Object.fromEntries(dropped),
      }
      return [name, use]
    }),
  )
}
