import { z } from 'zod'

/** `GET /api/v2/ticker/` of Bitstamp: every pair in one list; a fault is an object instead. */
export const bitstampAnswer = z.array(z.unknown())

/** One pair. `timestamp` is Unix seconds. */
export const bitstampRow = z.object({ pair: z.string(), bid: z.string(), ask: z.string(), timestamp: z.string() })
