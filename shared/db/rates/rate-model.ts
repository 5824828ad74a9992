import { z } from 'zod'
import { defineCollection, type RecordOf } from '#shared/db/connection/collection-model.ts'
import { objectAs, TIME } from '#shared/db/connection/stored-fields.ts'
import type { FiatCode } from '#shared/domain/enumerations.ts'
import type { GuardMemory } from '#shared/domain/rates/guard.ts'
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
    /** Time of each source's last response, by its name; sources without one since the process started are missing. */
    heardAt: z.record(z.string(), z.number()),
  },
  [{ name: 'rate_time', key: { at: 1 } }],
  { hidden: ['_id'] },
)

/** One published cycle: every symbol and fiat that had a quorum. Prices are decimal strings, never floats. */
export type RateSnapshot = RecordOf<typeof RATE_SNAPSHOTS>

/** A price with a sufficient number of sources, in decimal digits. */
export type PublishedPrice = RateSnapshot['usdPerSymbol'][string]
