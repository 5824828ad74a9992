import { z } from 'zod'
import { priceText } from './price-text.ts'

/** `GET /api/v2/ticker/` of Bitstamp: every pair in one list; a fault is an object instead. */
export const bitstampAnswer = z.array(z.unknown())

/** One pair. `timestamp` is Unix seconds. */
export const bitstampRow = z.object({ pair: z.string(), bid: priceText, ask: priceText, timestamp: z.string() })
