import type { z } from 'zod'
import { dropped, priceReading } from '#services/rates/quote-readers.ts'
import { type Pair, type RateSource, readBody, readRows } from '#services/rates/rate-source.ts'
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
  pairs: PAIRS,
  read: { on: '2026-08-05', from: 'docs.cdp.coinbase.com (list public products); ccxt 4.5.84' },
  frozenAfterMs: 60_000,
  path: (pairs) => `/api/v3/brokerage/market/products?${pairs.map((pair) => `product_ids=${pair}`).join('&')}`,
  parse(body, receivedAt) {
    const origin = { source: 'coinbase', feed: 'book', receivedAt } as const
    const readings = readRows(coinbaseProduct, readBody(coinbaseProducts, body).products).flatMap((product) =>
      isTraded(product)
        ? priceReading(origin, PAIRS[product.product_id], product.price, 'untimed')
        : dropped(origin, PAIRS[product.product_id], 'halted'),
    )
    return { readings, pulse: null }
  },
}

/** The last trade of a product that nobody can trade now is the price of an earlier time, and its format has no time. */
function isTraded(product: z.output<typeof coinbaseProduct>): boolean {
  const { status, is_disabled, trading_disabled, cancel_only, view_only, auction_mode } = product
  return status === 'online' && !is_disabled && !trading_disabled && !cancel_only && !view_only && !auction_mode
}
