import { z } from 'zod'
import { bookReading, epochMs } from '#services/rates/quote-readers.ts'
import { type Pair, type RateSource, readBody, readRows, SourceFault } from '#services/rates/rate-source.ts'
import { priceText } from '#shared/contracts/rates/price-text.ts'
import { RATE_SYMBOLS, STABLECOINS } from '#shared/domain/rates/crypto-board.ts'

/** `GET /api/v5/market/tickers?instType=SPOT` of OKX; any `code` but "0" is a fault. */
const okxAnswer = z.object({ code: z.string(), msg: z.string().optional(), data: z.array(z.unknown()) })

/** One instrument. Sides may be empty for a halted book; `ts` is Unix milliseconds. */
const okxRow = z.object({ instId: z.string(), bidPx: priceText, askPx: priceText, ts: z.string() })

const COINS = RATE_SYMBOLS.filter((symbol) => !STABLECOINS.has(symbol))

/**
 * OKX merged its USD and USDC books and took the USD ones off on 2026-09-30, without mapping their names. So the coins are read in USDC, and in USDT where
 * that book is gone or USDC has no price; USDC itself in USDT. `USDT-BRL` prices the real; the last two only check.
 */
const PAIRS: Readonly<Record<string, Pair>> = {
  ...Object.fromEntries(COINS.map((symbol) => [`${symbol}-USDC`, [symbol, 'USDC']])),
  ...Object.fromEntries([...COINS, 'USDC'].map((symbol) => [`${symbol}-USDT`, [symbol, 'USDT']])),
  'USDT-BRL': ['USDT', 'BRL'],
  'BTC-EUR': ['BTC', 'EUR'],
  'BTC-BRL': ['BTC', 'BRL'],
}

/** OKX spot tickers: every book in one response, each with its own time. */
export const okx: RateSource = {
  name: 'okx',
  feed: 'book',
  defaultUrl: 'https://www.okx.com',
  pollMs: 0,
  pairs: PAIRS,
  read: {
    on: '2026-10-01',
    from: 'www.okx.com/docs-v5/log_zh/ (entry of 2026-09-30); github.com/thrasher-corp/gocryptotrader 7417b81',
  },
  frozenAfterMs: 60_000,
  path: () => '/api/v5/market/tickers?instType=SPOT',
  parse(body, receivedAt) {
    const answer = readBody(okxAnswer, body)
    if (answer.code !== '0') throw new SourceFault('refused', body)
    const origin = { source: 'okx', feed: 'book', receivedAt } as const
    const readings = readRows(okxRow, answer.data).flatMap((row) =>
      bookReading(origin, PAIRS[row.instId], {
        bid: row.bidPx,
        ask: row.askPx,
        sourceAt: epochMs(row.ts, 'milliseconds'),
      }),
    )
    return { readings, pulse: null }
  },
}
