import { z } from 'zod'

/** `GET /api/v3/ticker/bookTicker?symbols=[…]` of Binance; a fault is `{code, msg}` instead of a list. */
export const binanceAnswer = z.array(z.unknown())

/** One symbol; a halted one shows zeros. The response contains no time. */
export const binanceRow = z.object({ symbol: z.string(), bidPrice: z.string(), askPrice: z.string() })
