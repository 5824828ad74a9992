import { bookQuote, epochMs, type Pair } from '#services/rates/quote-readers.ts'
import { type RateSource, readBody, readRows, SourceFault } from '#services/rates/rate-source.ts'
import { okxAnswer, okxRow } from '#shared/contracts/rates/okx.ts'
import { RATE_SYMBOLS } from '#shared/domain/rates/crypto-board.ts'

const COINS = RATE_SYMBOLS.filter((symbol) => symbol !== 'USDT')

/** USD books first; USDT books are used for coins without one. `USDT-BRL` prices the real; the last two only check. */
const PAIRS = new Map<string, Pair>([
  ...RATE_SYMBOLS.map((symbol): [string, Pair] => [`${symbol}-USD`, [symbol, 'USD']]),
  ...COINS.map((symbol): [string, Pair] => [`${symbol}-USDT`, [symbol, 'USDT']]),
  ['USDT-BRL', ['USDT', 'BRL']],
  ['BTC-EUR', ['BTC', 'EUR']],
  ['BTC-BRL', ['BTC', 'BRL']],
])

/** OKX spot tickers: every book in one response, each with its own time. */
export const okx: RateSource = {
  name: 'okx',
  feed: 'book',
  defaultUrl: 'https://www.okx.com',
  pollMs: 0,
  pairs: [],
  path: () => '/api/v5/market/tickers?instType=SPOT',
  parse(body, receivedAt) {
    const answer = readBody(okxAnswer, body)
    if (answer.code !== '0') throw new SourceFault('refused', body)
    const origin = { source: 'okx', feed: 'book', receivedAt } as const
    return readRows(okxRow, answer.data).flatMap((row) => {
      const sourceAt = epochMs(row.ts, 'milliseconds')
      return sourceAt === null
        ? []
        : bookQuote(origin, PAIRS.get(row.instId), { bid: row.bidPx, ask: row.askPx, sourceAt })
    })
  },
}
