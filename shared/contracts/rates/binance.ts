import { z } from 'zod'
import { priceText } from './price-text.ts'

/** `GET /api/v3/ticker/bookTicker?symbols=[…]` of Binance; a fault is `{code, msg}` instead of a list. */
export const binanceAnswer = z.array(z.unknown())

/** `GET /api/v3/ticker/price?symbolStatus=TRADING` of Binance: every symbol that is traded now. */
export const binanceListing = z.array(z.object({ symbol: z.string() })).min(1)

/** One symbol; a halted one shows zeros. The response contains no time. */
export const binanceRow = z.object({ symbol: z.string(), bidPrice: priceText, askPrice: priceText })
