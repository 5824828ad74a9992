import { describe, expect, it } from 'vitest'
import { type Decimal, formatDecimal, parseDecimal } from '#shared/domain/money/money.ts'
import { priceSymbols } from './crypto-board.ts'
import { priceFiats } from './fiat-board.ts'
import { publishable } from './price.ts'
import type { Feed, Quote } from './quote.ts'

function quote(source: string, base: string, quoted: string, price: string, feed: Feed = 'book'): Quote {
  return { source, base, quote: quoted, price: parseDecimal(price), feed, receivedAt: 1_000, sourceAt: null }
}

const printed = (price: Decimal | undefined) => (price === undefined ? null : formatDecimal(publishable(price)))

const TETHER = [
  quote('kraken', 'USDT', 'USD', '0.98'),
  quote('coinbase', 'USDT', 'USD', '0.98'),
  quote('bitstamp', 'USDT', 'USD', '0.98'),
]

describe('priceSymbols', () => {
  // Money: a USDT is not a dollar.
  it('turns USDT books into USD by the price of USDT', () => {
    const board = priceSymbols([
      ...TETHER,
      quote('kraken', 'BTC', 'USD', '98'),
      quote('binance', 'BTC', 'USDT', '100'),
      quote('okx', 'BTC', 'USDT', '100'),
    ])
    expect(printed(board.get('BTC')?.price)).toBe('98')
    expect(board.get('BTC')?.sources).toEqual(['binance', 'kraken', 'okx'])
  })

  it('leaves USDT books out when USDT itself has no price', () => {
    const board = priceSymbols([
      ...TETHER.slice(1),
      quote('kraken', 'BTC', 'USD', '100'),
      quote('binance', 'BTC', 'USDT', '100'),
      quote('okx', 'BTC', 'USDT', '100'),
    ])
    expect(board.size).toBe(0)
  })

  it('counts a source once, by its USD book', () => {
    const board = priceSymbols([
      ...TETHER,
      quote('okx', 'BTC', 'USDT', '103'),
      quote('okx', 'BTC', 'USD', '100'),
      quote('kraken', 'BTC', 'USD', '100'),
    ])
    expect(board.has('BTC')).toBe(false)
  })

  it('holds stablecoins to 1 % and coins to 3 % of the median', () => {
    const of = (symbol: string, prices: readonly string[]) =>
      prices.map((price, index) => quote(`s${index}`, symbol, 'USD', price))
    const board = priceSymbols([...of('USDC', ['1', '1', '1.02']), ...of('BTC', ['100', '100', '102'])])
    expect(board.has('USDC')).toBe(false)
    expect(board.get('BTC')?.sources).toHaveLength(3)
  })
})

describe('priceFiats', () => {
  it('inverts dollar books, divides tether books and keeps tables', () => {
    const fiats = priceFiats(
      [
        quote('kraken', 'EUR', 'USD', '1.138'),
        quote('bitstamp', 'EUR', 'USD', '1.138'),
        quote('binance', 'USDT', 'BRL', '5.098'),
        quote('okx', 'USDT', 'BRL', '5.098'),
      ],
      parseDecimal('0.98'),
    )
    expect(printed(fiats.get('EUR')?.price)).toBe('0.87873462214411')
    expect(printed(fiats.get('BRL')?.price)).toBe('5.2020408163265')
  })

  it('has no price from one source, from daily tables alone, or without the price of USDT', () => {
    const fiats = priceFiats(
      [
        quote('yadio', 'USD', 'DOP', '61.5', 'rolling'),
        quote('a', 'USD', 'PEN', '3.3', 'daily'),
        quote('b', 'USD', 'PEN', '3.3', 'daily'),
        quote('binance', 'USDT', 'COP', '3245'),
        quote('okx', 'USDT', 'COP', '3245'),
      ],
      null,
    )
    expect([...fiats.keys()]).toEqual([])
  })

  it('asks the reserve only when the first sources have no quorum', () => {
    const books = [quote('kraken', 'EUR', 'USD', '1.138'), quote('coinbase-fx', 'USD', 'EUR', '0.8787', 'rolling')]
    const street = quote('yadio', 'USD', 'EUR', '0.8787', 'rolling')
    expect(priceFiats([...books, street], null).get('EUR')?.sources).toEqual(['coinbase-fx', 'kraken'])
    expect(priceFiats([...books.slice(1), street], null).get('EUR')?.sources).toEqual(['coinbase-fx', 'yadio'])
  })

  it('never mixes the two prices of the Argentine peso', () => {
    const fiats = priceFiats(
      [
        quote('yadio', 'USD', 'ARS:crypto', '1532', 'rolling'),
        quote('bitso', 'USDT', 'ARS:crypto', '1532'),
        quote('coinbase-fx', 'USD', 'ARS:official', '1490', 'rolling'),
        quote('open-er-api', 'USD', 'ARS:official', '1490', 'daily'),
      ],
      parseDecimal('1'),
    )
    expect(printed(fiats.get('ARS:crypto')?.price)).toBe('1532')
    expect(printed(fiats.get('ARS:official')?.price)).toBe('1490')
  })
})
