import { z } from 'zod'
import { bookReading, epochMs } from '#services/rates/quote-readers.ts'
import { type Pair, type RateSource, readBody, readRows } from '#services/rates/rate-source.ts'
import { priceText } from '#shared/contracts/rates/price-text.ts'
import { RATE_SYMBOLS } from '#shared/domain/rates/crypto-board.ts'

/** `GET /api/v2/ticker/` of Bitstamp: every pair in one list; a fault is an object instead. */
const bitstampAnswer = z.array(z.unknown())

/** One pair. `timestamp` is Unix seconds. */
const bitstampRow = z.object({ pair: z.string(), bid: priceText, ask: priceText, timestamp: z.string() })

/** Besides the dollar books, two direct ones that only check the result. */
const PAIRS: Readonly<Record<string, Pair>> = {
  ...Object.fromEntries([...RATE_SYMBOLS, 'EUR', 'GBP'].map((base) => [`${base}/USD`, [base, 'USD']])),
  'BTC/EUR': ['BTC', 'EUR'],
  'BTC/GBP': ['BTC', 'GBP'],
}

/** Bitstamp `ticker/`: USD books of all ten symbols and of EUR and GBP, each with the time of the response. */
export const bitstamp: RateSource = {
  name: 'bitstamp',
  feed: 'book',
  defaultUrl: 'https://www.bitstamp.net',
  pollMs: 0,
  pairs: PAIRS,
  read: { on: '2026-08-05', from: 'github.com/thrasher-corp/gocryptotrader 7417b81; ccxt 4.5.84' },
  frozenAfterMs: 60_000,
  path: () => '/api/v2/ticker/',
  parse(body, receivedAt) {
    const origin = { source: 'bitstamp', feed: 'book', receivedAt } as const
    const readings = readRows(bitstampRow, readBody(bitstampAnswer, body)).flatMap((row) =>
      bookReading(origin, PAIRS[row.pair], { bid: row.bid, ask: row.ask, sourceAt: epochMs(row.timestamp, 'seconds') }),
    )
    return { readings, pulse: null }
  },
}
