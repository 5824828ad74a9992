import { type Pair, priceQuote } from '#services/rates/quote-readers.ts'
import { type RateSource, readBody, readRows } from '#services/rates/rate-source.ts'
import { coinbaseProduct, coinbaseProducts } from '#shared/contracts/rates/coinbase.ts'

/** No TRX product exists, and USDC is the same book as USD there, so it could never show a lost peg. */
const PAIRS: Readonly<Record<string, Pair>> = {
  'BTC-USD': ['BTC', 'USD'],
  'LTC-USD': ['LTC', 'USD'],
  'DOGE-USD': ['DOGE', 'USD'],
  'ETH-USD': ['ETH', 'USD'],
  'BNB-USD': ['BNB', 'USD'],
  'POL-USD': ['POL', 'USD'],
  'SOL-USD': ['SOL', 'USD'],
  'USDT-USD': ['USDT', 'USD'],
}

/** Coinbase Advanced Trade, public product list: last trades of products that trade now. No time, no book. */
export const coinbase: RateSource = {
  name: 'coinbase',
  feed: 'book',
  defaultUrl: 'https://api.coinbase.com',
  pollMs: 0,
  pairs: Object.keys(PAIRS),
  path: (pairs) => `/api/v3/brokerage/market/products?${pairs.map((pair) => `product_ids=${pair}`).join('&')}`,
  parse(body, receivedAt) {
    const origin = { source: 'coinbase', feed: 'book', receivedAt } as const
    return readRows(coinbaseProduct, readBody(coinbaseProducts, body).products)
      .filter((product) => product.status === 'online' && !product.is_disabled && !product.trading_disabled)
      .flatMap((product) => priceQuote(origin, PAIRS[product.product_id], product.price, null))
  },
}
