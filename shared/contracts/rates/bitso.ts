import { z } from 'zod'
import { priceText } from './price-text.ts'

/** `GET /v3/ticker/` of Bitso: every book; `success` is a boolean or the text of one. */
export const bitsoAnswer = z.object({
  success: z.union([z.literal(true), z.literal('true')]),
  payload: z.array(z.unknown()),
})

/** One book, as `usd_mxn`. `created_at` is ISO 8601 with an offset. */
export const bitsoRow = z.object({ book: z.string(), bid: priceText, ask: priceText, created_at: z.string() })
