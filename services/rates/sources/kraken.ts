import { z } from 'zod'
import { bookReading } from '#services/rates/quote-readers.ts'
import { type Pair, type RateSource, readBody, readRows, SourceFault } from '#services/rates/rate-source.ts'
import { priceText } from '#shared/contracts/rates/price-text.ts'

/** `GET /0/public/Ticker` of Kraken's REST API; faults come with status 200 inside `error`, rows are read one by one. */
const krakenAnswer = z.object({
  error: z.array(z.string()),
  result: z.record(z.string(), z.unknown()).optional(),
})

/** `GET /0/public/AssetPairs` of Kraken: every pair by its key, with the name to request it by, and `online` while it can be traded freely. */
const krakenListing = z.object({
  error: z.array(z.string()),
  result: z.record(z.string(), z.object({ altname: z.string(), status: z.string() })),
})

/** One pair: `a` = ask and `b` = bid as `[price, whole lot volume, lot volume]`. */
const krakenRow = z.object({
  a: z.tuple([priceText]).rest(z.unknown()),
  b: z.tuple([priceText]).rest(z.unknown()),
})

/** The requested pair, and its key in the response: old assets carry an X or Z there, without a consistent rule. */
const PAIRS: Readonly<Record<string, { readonly key: string; readonly pair: Pair }>> = {
  XBTUSD: { key: 'XXBTZUSD', pair: ['BTC', 'USD'] },
  LTCUSD: { key: 'XLTCZUSD', pair: ['LTC', 'USD'] },
  XDGUSD: { key: 'XDGUSD', pair: ['DOGE', 'USD'] },
  ETHUSD: { key: 'XETHZUSD', pair: ['ETH', 'USD'] },
  BNBUSD: { key: 'BNBUSD', pair: ['BNB', 'USD'] },
  POLUSD: { key: 'POLUSD', pair: ['POL', 'USD'] },
  TRXUSD: { key: 'TRXUSD', pair: ['TRX', 'USD'] },
  SOLUSD: { key: 'SOLUSD', pair: ['SOL', 'USD'] },
  USDTUSD: { key: 'USDTZUSD', pair: ['USDT', 'USD'] },
  USDCUSD: { key: 'USDCUSD', pair: ['USDC', 'USD'] },
  EURUSD: { key: 'ZEURZUSD', pair: ['EUR', 'USD'] },
  GBPUSD: { key: 'ZGBPZUSD', pair: ['GBP', 'USD'] },
}

/** Keys of a response, the current ones and those of the announced `assetVersion=1` (`BTC/USD`). */
const BY_KEY = new Map<string, Pair>(
  Object.values(PAIRS).flatMap(({ key, pair }) => [[key, pair] as const, [pair.join('/'), pair] as const]),
)

/** Kraken REST `Ticker`: USD books of all ten symbols and of EUR and GBP. Its response carries no time. */
export const kraken: RateSource = {
  name: 'kraken',
  feed: 'book',
  defaultUrl: 'https://api.kraken.com',
  pollMs: 0,
  pairs: Object.fromEntries(Object.entries(PAIRS).map(([name, { pair }]) => [name, pair])),
  read: {
    on: '2026-07-20',
    from: 'docs.kraken.com/api/docs/rest-api/get-ticker-information; btcpayserver/btcpayserver#7467',
  },
  frozenAfterMs: 60_000,
  listing: {
    path: '/0/public/AssetPairs',
    parse(body) {
      const { result } = readBody(krakenListing, body)
      return new Set(Object.values(result).flatMap(({ altname, status }) => (status === 'online' ? [altname] : [])))
    },
  },
  path: (pairs) => `/0/public/Ticker?pair=${pairs.join(',')}`,
  refusesPair: (body) => /"EQuery:(?:Unknown asset pair|Invalid asset pair)/.test(body),
  parse(body, receivedAt) {
    const answer = readBody(krakenAnswer, body)
    // Warnings (`W…`) may accompany a valid result; errors (`E…`) never do.
    if (answer.result === undefined || answer.error.some((entry) => entry.startsWith('E'))) {
      throw new SourceFault('refused', body)
    }
    const origin = { source: 'kraken', feed: 'book', receivedAt } as const
    const readings = Object.entries(answer.result).flatMap(([key, value]) =>
      readRows(krakenRow, [value]).flatMap((row) =>
        bookReading(origin, BY_KEY.get(key), { bid: row.b[0], ask: row.a[0], sourceAt: 'untimed' }),
      ),
    )
    return { readings, pulse: null }
  },
}
