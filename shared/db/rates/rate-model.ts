import { DATE, defineCollection, TEXT } from '#shared/db/connection/collection-model.ts'
import type { RateSnapshot } from '#shared/ports/rates.ts'

/** A stored snapshot; prices stay decimal strings. */
export type RateDocument = Omit<RateSnapshot, 'at'> & { _id: string; at: Date }

/** The rate_snapshots collection: one document per cycle, kept 15 days for late payments and audits, and longer while a scanner is further behind. */
export const RATE_SNAPSHOTS = defineCollection<RateDocument>(
  'rate_snapshots',
  {
    _id: TEXT,
    at: DATE,
    usdPerSymbol: { type: Object, required: true },
    fiatPerUsd: { type: Object, required: true },
    guards: { type: Object, required: true },
    heardAt: { type: Object, required: true },
  },
  [{ name: 'rate_time', key: { at: 1 } }],
)
