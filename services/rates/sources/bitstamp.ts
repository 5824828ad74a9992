import { bookQuote, epochMs, type Pair } from '#services/rates/quote-readers.ts'
import { type RateSource, readBody, readRows } from '#services/rates/rate-source.ts'
import { bitstampAnswer, bitstampRow } from '#shared/contracts/rates/bitstamp.ts'
import { RATE_SYMBOLS } from '#shared/domain/rates/crypto-board.ts'

/** Besides the dollar books, two direct ones that only check the result. */
const PAIRS = new Map<string, Pair>([
  ...[...RATE_SYMBOLS, 'EUR', 'GBP'].map((base): [string, Pair] => [`${base}/USD`, [base, 'USD']]),
  ['BTC/EUR', ['BTC', 'EUR']],
  ['BTC/GBP', ['BTC', 'GBP']],
])

/** Bitstamp `ticker/`: USD books of all ten symbols and of EUR and GBP, each with the time of the response. */
export const bitstamp: RateSource = {
  name: 'bitstamp',
  feed: 'book',
  defaultUrl: 'https://www.bitstamp.net',
  pollMs: 0,
  pairs: [],
  path: () => '/api/v2/ticker/',
  parse(body, receivedAt) {
    const origin = { source: 'bitstamp', feed: 'book', receivedAt } as const
    return readRows(bitstampRow, readBody(bitstampAnswer, body)).flatMap((row) => {
      const sourceAt = epochMs(row.timestamp, 'seconds')
      return sourceAt === null ? [] : bookQuote(origin, PAIRS.get(row.pair), { bid: row.bid, ask: row.ask, sourceAt })
    })
  },
}
