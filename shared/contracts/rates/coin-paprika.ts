import { z } from 'zod'

/** `GET /v1/tickers/{id}?quotes=USD` of CoinPaprika; the price is a bare number, `last_updated` ISO 8601 in UTC. */
export const coinPaprikaTicker = z.object({
  last_updated: z.string(),
  quotes: z.object({ USD: z.object({ price: z.string() }) }),
})
