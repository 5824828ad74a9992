import { z } from 'zod'
import { priceText } from './price-text.ts'

/** `GET /api/v5/market/tickers?instType=SPOT` of OKX; any `code` but "0" is a fault. */
export const okxAnswer = z.object({ code: z.string(), msg: z.string().optional(), data: z.array(z.unknown()) })

/** One instrument. Sides may be empty for a halted book; `ts` is Unix milliseconds. */
export const okxRow = z.object({ instId: z.string(), bidPx: priceText, askPx: priceText, ts: z.string() })
