import type { Ms } from '#shared/domain/invoice/model.ts'
import { type DropReason, isQuote, type Reading } from '#shared/domain/rates/quote.ts'
import type { RateSource } from './rate-source.ts'

/** The last reading of each pair that a source is expected to price. */
export type ReadingCache = ReturnType<typeof createReadingCache>

/** Starts without a response of the source. */
export function createReadingCache(source: RateSource) {
  /** A response that has every pair is its source's list of pairs. */
  const absent: DropReason = source.listing === undefined ? 'unlisted' : 'missing'
  const cached = new Map<string, Reading>()

  function dropped(name: string, because: DropReason): Reading {
    const [base, quote] = source.pairs[name] ?? [name, name]
    return { source: source.name, base, quote, because }
  }

  for (const name of Object.keys(source.pairs)) cached.set(name, dropped(name, 'no_answer'))
  return {
    all: (): readonly Reading[] => [...cached.values()],

    /** Replaces the readings of these pairs by those of a response; two prices for one pair are none. Returns how many prices there are. */
    keep(names: readonly string[], readings: readonly Reading[]): number {
      for (const name of names) {
        const nothing = dropped(name, absent)
        const own = readings.filter(({ base, quote }) => base === nothing.base && quote === nothing.quote)
        const [first = nothing] = own
        cached.set(name, own.length > 1 ? dropped(name, 'duplicate') : first)
      }
      return names.flatMap((name) => cached.get(name) ?? []).filter(isQuote).length
    },

    /** Drops pairs for a reason; returns those that were not dropped for it before. */
    drop(names: Iterable<string>, because: DropReason): readonly string[] {
      const newly = [...names].filter((name) => {
        const reading = cached.get(name)
        return reading !== undefined && (isQuote(reading) || reading.because !== because)
      })
      for (const name of newly) cached.set(name, dropped(name, because))
      return newly
    },

    /** Sets the times of receipt back. */
    shift(byMs: Ms): void {
      for (const [name, reading] of cached) {
        if (isQuote(reading)) cached.set(name, { ...reading, receivedAt: reading.receivedAt - byMs })
      }
    },
  }
}
