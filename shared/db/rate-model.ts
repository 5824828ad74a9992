import type { RateSnapshot } from '#shared/usecases/ports/rates.ts'
import { DATE, defineCollection, optional, TEXT } from './collection-model.ts'

/** A stored snapshot; prices stay decimal strings. */
export type RateDocument = Omit<RateSnapshot, 'at'> & { _id: string; at: Date }

const FIFTEEN_DAYS_S = 15 * 86_400

/** The rate_snapshots collection: one document per cycle, kept 15 days for late payments and audits. */
export const RATE_SNAPSHOTS = defineCollection<RateDocument>(
  'rate_snapshots',
  {
    _id: TEXT,
    at: DATE,
    usdPerSymbol: { type: Object, required: true },
    fiatPerUsd: { type: Object, required: true },
    guards: optional(Object),
    heardAt: optional(Object),
  },
  [{ name: 'rate_at', key: { at: 1 }, expireAfterSeconds: FIFTEEN_DAYS_S }],
)
