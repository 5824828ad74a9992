import { compare, type Decimal, multiply } from '#shared/domain/money/money.ts'
import { RATE_SYMBOLS, type RateSymbol } from './crypto-board.ts'
import type { FxSeries } from './fiat-board.ts'
import { parsePrice } from './price.ts'

/**
 * US dollars for one unit, in its order of magnitude: those of the simulated exchanges, November 2026. Old values are good for years: see how far a
 * price may be from them.
 */
const USD: Readonly<Record<RateSymbol | FxSeries | 'USD', string>> = {
  USD: '1',
  BTC: '71000',
  LTC: '56',
  DOGE: '0.1',
  ETH: '2100',
  BNB: '640',
  POL: '0.11',
  TRX: '0.3',
  SOL: '88',
  USDT: '1',
  USDC: '1',
  EUR: '1.1',
  GBP: '1.3',
  BRL: '0.2',
  MXN: '0.057',
  COP: '0.00031',
  CLP: '0.0011',
  PEN: '0.3',
  DOP: '0.016',
  'ARS:crypto': '0.00065',
  'ARS:official': '0.00067',
}

/** How far a price of two currencies may be from what it was: the Argentine peso, the fastest of ours, lost about as much from 2016 to 2026. */
const FIAT_FACTOR = 100n
/** The same for a price in which there is a coin: Dogecoin rose about 150-fold from January to May 2021. */
const COIN_FACTOR = 1_000n

/**
 * Whether a price of `quote` units for one `base` can be one. What is further away is a wrong unit or a joke, also where there is no earlier price to
 * compare it with; it bounds what every source together can make of a first price. False for a pair of which a name is not ours. Pure.
 */
export function isPlausible(base: string, quote: string, price: Decimal): boolean {
  const [worth, unit] = [worthOf(base), worthOf(quote)]
  if (worth === null || unit === null) return false
  const factor: Decimal = { digits: isFiat(base) && isFiat(quote) ? FIAT_FACTOR : COIN_FACTOR, scale: 0 }
  const given = multiply(price, unit)
  return compare(given, multiply(worth, factor)) <= 0 && compare(multiply(given, factor), worth) >= 0
}

const worthOf = (name: string): Decimal | null => parsePrice((USD as Readonly<Record<string, string>>)[name] ?? '')

const isFiat = (name: string): boolean => !RATE_SYMBOLS.some((symbol) => symbol === name)
