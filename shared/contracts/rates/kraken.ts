import { z } from 'zod'
import { priceText } from './price-text.ts'

/** `GET /0/public/Ticker` of Kraken's REST API; faults come with status 200 inside `error`, rows are read one by one. */
export const krakenAnswer = z.object({
  error: z.array(z.string()),
  result: z.record(z.string(), z.unknown()).optional(),
})

/** `GET /0/public/AssetPairs` of Kraken: every pair by its key, with the name to request it by, and `online` while it can be traded freely. */
export const krakenListing = z.object({
  error: z.array(z.string()),
  result: z.record(z.string(), z.object({ altname: z.string(), status: z.string() })),
})

/** One pair: `a` = ask and `b` = bid as `[price, whole lot volume, lot volume]`. */
export const krakenRow = z.object({
  a: z.tuple([priceText]).rest(z.unknown()),
  b: z.tuple([priceText]).rest(z.unknown()),
})
