import { z } from 'zod'

/** `GET /0/public/Ticker` of Kraken's REST API; faults come with status 200 inside `error`, rows are read one by one. */
export const krakenAnswer = z.object({
  error: z.array(z.string()),
  result: z.record(z.string(), z.unknown()).optional(),
})

/** One pair: `a` = ask and `b` = bid as `[price, whole lot volume, lot volume]`. */
export const krakenRow = z.object({
  a: z.tuple([z.string()]).rest(z.string()),
  b: z.tuple([z.string()]).rest(z.string()),
})
