import { z } from 'zod'
import { bookReading } from '#services/rates/quote-readers.ts'
import { type Pair, type RateSource, readBody, readRows, SourceFault } from '#services/rates/rate-source.ts'
import { priceText } from '#shared/contracts/rates/price-text.ts'

/** `GET /api/v3/ticker/bookTicker?symbols=[…]` of Binance; a fault is `{code, msg}` instead of a list. */
const binanceAnswer = z.array(z.unknown())

/** `GET /api/v3/ticker/price?symbolStatus=TRADING` of Binance: every symbol that is traded now. */
const binanceListing = z.array(z.object({ symbol: z.string() })).min(1)

/** One symbol; a halted one shows zeros. The response contains no time. */
const binanceRow = z.object({ symbol: z.string(), bidPrice: priceText, askPrice: priceText })

/** USDT books are the deep ones there; the USD books of the stablecoins give the value of USDT. */
const PAIRS: Readonly<Record<string, Pair>> = {
  BTCUSDT: ['BTC', 'USDT'],
  LTCUSDT: ['LTC', 'USDT'],
  DOGEUSDT: ['DOGE', 'USDT'],
  ETHUSDT: ['ETH', 'USDT'],
  BNBUSDT: ['BNB', 'USDT'],
  POLUSDT: ['POL', 'USDT'],
  TRXUSDT: ['TRX', 'USDT'],
  SOLUSDT: ['SOL', 'USDT'],
  USDTUSD: ['USDT', 'USD'],
  USDCUSD: ['USDC', 'USD'],
  USDTBRL: ['USDT', 'BRL'],
  USDTMXN: ['USDT', 'MXN'],
  USDTARS: ['USDT', 'ARS:crypto'],
  USDTCOP: ['USDT', 'COP'],
}

/** Binance `bookTicker` of the market-data host, trading symbols only. Its response carries no time. */
export const binance: RateSource = {
  name: 'binance',
  feed: 'book',
  defaultUrl: 'https://data-api.binance.vision',
  pollMs: 0,
  pairs: PAIRS,
  read: {
    on: '2026-08-05',
    from: 'github.com/binance/binance-spot-api-docs a5e0bc3; github.com/thrasher-corp/gocryptotrader 7417b81',
  },
  frozenAfterMs: 60_000,
  listing: {
    path: '/api/v3/ticker/price?symbolStatus=TRADING',
    parse: (body) => new Set(readBody(binanceListing, body).map(({ symbol }) => symbol)),
  },
  path: (pairs) =>
    `/api/v3/ticker/bookTicker?symbols=${encodeURIComponent(JSON.stringify(pairs))}&symbolStatus=TRADING`,
  refusesPair: (body) => /"code"\s*:\s*-1121\b/.test(body),
  parse(body, receivedAt) {
    if (body.trimStart().startsWith('{')) throw new SourceFault('refused', body)
    const origin = { source: 'binance', feed: 'book', receivedAt } as const
    const readings = readRows(binanceRow, readBody(binanceAnswer, body)).flatMap((row) =>
      bookReading(origin, PAIRS[row.symbol], { bid: row.bidPrice, ask: row.askPrice, sourceAt: 'untimed' }),
    )
    return { readings, pulse: null }
  },
}
