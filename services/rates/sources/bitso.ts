import { bookQuote, isoMs, type Pair } from '#services/rates/quote-readers.ts'
import { type RateSource, readBody, readRows } from '#services/rates/rate-source.ts'
import { bitsoAnswer, bitsoRow } from '#shared/contracts/rates/bitso.ts'

const PAIRS = new Map<string, Pair>([
  ['usd_mxn', ['USD', 'MXN']],
  ['usdt_cop', ['USDT', 'COP']],
  ['usdt_ars', ['USDT', 'ARS:crypto']],
])

/** Bitso `ticker/`: the live peso books of Mexico, Colombia and Argentina, each with its time. */
export const bitso: RateSource = {
  name: 'bitso',
  feed: 'book',
  defaultUrl: 'https://api.bitso.com',
  pollMs: 0,
  pairs: [],
  path: () => '/v3/ticker/',
  parse(body, receivedAt) {
    const origin = { source: 'bitso', feed: 'book', receivedAt } as const
    return readRows(bitsoRow, readBody(bitsoAnswer, body).payload).flatMap((row) => {
      const sourceAt = isoMs(row.created_at)
      return sourceAt === null ? [] : bookQuote(origin, PAIRS.get(row.book), { bid: row.bid, ask: row.ask, sourceAt })
    })
  },
}
