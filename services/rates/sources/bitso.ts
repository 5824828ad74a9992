import { z } from 'zod'
import { bookReading, isoMs } from '#services/rates/quote-readers.ts'
import { type Pair, type RateSource, readBody, readRows } from '#services/rates/rate-source.ts'
import { priceText } from '#shared/contracts/rates/price-text.ts'

/** `GET /v3/ticker/` of Bitso: every book; `success` is a boolean or the text of one. */
const bitsoAnswer = z.object({
  success: z.union([z.literal(true), z.literal('true')]),
  payload: z.array(z.unknown()),
})

/** One book, as `usd_mxn`. `created_at` is ISO 8601 with an offset. */
const bitsoRow = z.object({ book: z.string(), bid: priceText, ask: priceText, created_at: z.string() })

const PAIRS: Readonly<Record<string, Pair>> = {
  usd_mxn: ['USD', 'MXN'],
  usdt_cop: ['USDT', 'COP'],
  usdt_ars: ['USDT', 'ARS:crypto'],
}

/** Books in pesos are quiet for minutes at night; each prints its own time, which is checked as well. */
const QUIET_MS = 60 * 60_000

/** Bitso `ticker/`: the live peso books of Mexico, Colombia and Argentina, each with its time. */
export const bitso: RateSource = {
  name: 'bitso',
  feed: 'book',
  defaultUrl: 'https://api.bitso.com',
  pollMs: 0,
  pairs: PAIRS,
  read: { on: '2026-08-05', from: 'docs.bitso.com (ticker, rate limits)' },
  frozenAfterMs: QUIET_MS,
  path: () => '/v3/ticker/',
  parse(body, receivedAt) {
    const origin = { source: 'bitso', feed: 'book', receivedAt } as const
    const readings = readRows(bitsoRow, readBody(bitsoAnswer, body).payload).flatMap((row) =>
      bookReading(origin, PAIRS[row.book], { bid: row.bid, ask: row.ask, sourceAt: isoMs(row.created_at) }),
    )
    return { readings, pulse: null }
  },
}
