import { z } from 'zod'
import { bookReading } from '#services/rates/quote-readers.ts'
import { type Pair, type RateSource, readBody, readRows, SourceFault } from '#services/rates/rate-source.ts'
import { priceText } from '#shared/contracts/rates/price-text.ts'

/** `GET /v2/tickers?symbols=…` of Bitfinex: a list of lists; a fault is `["error", code, text]`. */
const bitfinexAnswer = z.array(z.unknown())

/** One pair: symbol, bid, bid size, ask, then sizes and changes that may be null. Unknown symbols are silently absent. */
const bitfinexRow = z.tuple([z.string(), priceText, z.unknown(), priceText]).rest(z.unknown())

/** UST is USDT and UDC is USDC there; DOGE takes a colon. There is no BNB book. */
const PAIRS: Readonly<Record<string, Pair>> = {
  tBTCUSD: ['BTC', 'USD'],
  tLTCUSD: ['LTC', 'USD'],
  'tDOGE:USD': ['DOGE', 'USD'],
  tETHUSD: ['ETH', 'USD'],
  tPOLUSD: ['POL', 'USD'],
  tTRXUSD: ['TRX', 'USD'],
  tSOLUSD: ['SOL', 'USD'],
  tUSTUSD: ['USDT', 'USD'],
  tUDCUSD: ['USDC', 'USD'],
}

/** Bitfinex `tickers`: lists of bare numbers, read as the text they were written in. No time. */
export const bitfinex: RateSource = {
  name: 'bitfinex',
  feed: 'book',
  defaultUrl: 'https://api-pub.bitfinex.com',
  pollMs: 0,
  pairs: PAIRS,
  read: {
    on: '2026-08-21',
    from: 'docs.bitfinex.com/reference/rest-public-tickers; github.com/QuantConnect/Lean 2486390',
  },
  frozenAfterMs: 60_000,
  path: (pairs) => `/v2/tickers?symbols=${pairs.join(',')}`,
  parse(body, receivedAt) {
    const answer = readBody(bitfinexAnswer, body)
    if (answer[0] === 'error') throw new SourceFault('refused', body)
    const origin = { source: 'bitfinex', feed: 'book', receivedAt } as const
    const readings = readRows(bitfinexRow, answer).flatMap((row) =>
      bookReading(origin, PAIRS[row[0]], { bid: row[1], ask: row[3], sourceAt: 'untimed' }),
    )
    return { readings, pulse: null }
  },
}
