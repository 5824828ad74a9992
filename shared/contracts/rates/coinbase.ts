import { z } from 'zod'
import { priceText } from './price-text.ts'

/** `GET /api/v3/brokerage/market/products` of Coinbase Advanced Trade (public, no key). */
export const coinbaseProducts = z.object({ products: z.array(z.unknown()) })

/** One product. The response has no book: `price` is the last trade. */
export const coinbaseProduct = z.object({
  product_id: z.string(),
  price: priceText,
  status: z.string(),
  is_disabled: z.boolean(),
  trading_disabled: z.boolean(),
  /** Modes in which nobody can trade at `price`. Only `true` stops a vote: a flag that is no longer sent must not. */
  cancel_only: z.boolean().catch(false),
  view_only: z.boolean().catch(false),
  auction_mode: z.boolean().catch(false),
})

/** `GET /v2/exchange-rates?currency=USD` of Coinbase: units per USD by currency code. */
export const coinbaseExchangeRates = z.object({
  data: z.object({ currency: z.string(), rates: z.record(z.string(), z.unknown()) }),
})
