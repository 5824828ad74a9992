import { z } from 'zod'
import { priceText } from './price-text.ts'

/** `GET /v2/tickers?symbols=…` of Bitfinex: a list of lists; a fault is `["error", code, text]`. */
export const bitfinexAnswer = z.array(z.unknown())

/** One pair: symbol, bid, bid size, ask, then sizes and changes that may be null. Unknown symbols are silently absent. */
export const bitfinexRow = z.tuple([z.string(), priceText, z.unknown(), priceText]).rest(z.unknown())
