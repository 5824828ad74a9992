import { z } from 'zod'
import { defineCollection, type RecordOf } from '#shared/db/connection/collection-model.ts'
import { objectAs, TIME } from '#shared/db/connection/stored-fields.ts'
import type { FiatCode } from '#shared/domain/enumerations.ts'
import type { GuardMemory } from '#shared/domain/rates/guard.ts'
import type { DropReason } from '#shared/domain/rates/quote.ts'

/** Fiat columns of a snapshot; ARS has two series and a workspace picks one. */
export type FiatSeries = Exclude<FiatCode, 'ARS'> | 'ARS:crypto' | 'ARS:official'

/** A price with a sufficient number of sources, in decimal digits. */
const PRICE = z.object({
  price: z.string(),
  sources: z.array(z.string()),
  /** Sources that were left out because they were too far from the others; absent = none. */
  outliers: z.array(z.string()).exactOptional(),
  oldestAt: z.number(),
})

/** The use that a cycle made of one source. */
const SOURCE_USE = z.object({
  /** Time of its newest price; null without one. */
  heardAt: z.number().nullable(),
  /** Pairs that it should have voted with, and those inside a median. */
  expected: z.number(),
  used: z.number(),
  /** Why others have no part, by pair, as `BTC/USD`. */
  dropped: objectAs<Readonly<Record<string, DropReason>>>(),
})

/** The rate_snapshots collection: one document per cycle, kept 15 days for late payments and audits, and longer while a scanner is further behind. */
export const RATE_SNAPSHOTS = defineCollection(
  'rate_snapshots',
  {
    _id: z.string(),
    at: TIME,
    /** USD per one unit, by ticker symbol (BTC, USDT, …). */
    usdPerSymbol: z.record(z.string(), PRICE),
    /** Fiat per one USD, by series; USD itself is always "1". */
    fiatPerUsd: objectAs<Partial<Record<FiatSeries, z.infer<typeof PRICE>>>>(),
    /**
     * State of the jump and peg guards, by symbol or series: stored and returned unchanged, so that the next
     * cycle, perhaps of another process, continues from it.
     */
    guards: z.record(z.string(), objectAs<GuardMemory>()),
    /** How many sources vote on each rate while all is well, by symbol or series; also of rates without a price. */
    expected: z.record(z.string(), z.number()),
    /** What became of each source's pairs, by its name. */
    sources: z.record(z.string(), SOURCE_USE),
    /** How far the clocks of order books are ahead of ours, milliseconds; null while too few agree. */
    clockOffsetMs: z.number().nullable(),
  },
  [{ name: 'rate_time', key: { at: 1 } }],
  { hidden: ['_id'] },
)

/** One published cycle: every symbol and fiat that had a quorum. Prices are decimal strings, never floats. */
export type RateSnapshot = RecordOf<typeof RATE_SNAPSHOTS>

/** The use that a cycle made of one source. */
export type SourceUse = z.infer<typeof SOURCE_USE>

/** A price with a sufficient number of sources, in decimal digits. */
export type PublishedPrice = RateSnapshot['usdPerSymbol'][string]
