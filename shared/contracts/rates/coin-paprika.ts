import { z } from 'zod'

/** `GET /v1/tickers?quotes=USD` of CoinPaprika: every coin of its list in one response. */
export const coinPaprikaTickers = z.array(z.unknown()).min(1)

/** One coin; the price is a bare number, `last_updated` ISO 8601 in UTC. */
export const coinPaprikaTicker = z.object({
  id: z.string(),
  last_updated: z.string(),
  quotes: z.object({ USD: z.object({ price: z.string() }) }),
})
