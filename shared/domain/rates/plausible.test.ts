import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { formatDecimal, multiply, parseDecimal } from '#shared/domain/money/money.ts'
import { RATE_SYMBOLS } from './crypto-board.ts'
import { FX_SERIES } from './fiat-board.ts'
import { isPlausible } from './plausible.ts'
import { inverse, parsePrice, publishable } from './price.ts'

const plausible = (pair: string, price: string) => {
  const [base = '', quote = ''] = pair.split('/')
  return isPlausible(base, quote, parseDecimal(price))
}

describe('isPlausible', () => {
  it.each([
    ['BTC/USD', '26208'],
    ['BTC/USD', '1000000'],
    ['BTC/EUR', '62610'],
    ['BTC/ARS:crypto', '109000000'],
    ['DOGE/USDT', '0.002'],
    ['EUR/USD', '1.6'],
    ['USD/COP', '3097.41'],
    ['USD/ARS:official', '15'],
    ['USDT/BRL', '5.1'],
    ['USDT/USD', '0.01'],
  ])('%s at %s', (pair, price) => expect(plausible(pair, price)).toBe(true))

  it.each([
    ['EUR/USD', '100000000000000000000'],
    ['EUR/USD', '0.0000000001'],
    ['USD/EUR', '1000'],
    ['BTC/USD', '1'],
    ['BTC/USD', '100000000'],
    ['USDT/USD', '5000'],
    ['USD/DOP', '0.016'],
    ['ABC/USD', '1'],
    ['BTC/XYZ', '71000'],
  ])('not %s at %s', (pair, price) => expect(plausible(pair, price)).toBe(false))

  // Guarantee: however a first price is written, what is computed with it is neither zero nor endless.
  it('leaves no two legs whose product is nothing, or more than thirty digits', () => {
    const texts = fc.tuple(fc.integer({ min: 1, max: 9_999 }), fc.integer({ min: -30, max: 30 }))
    fc.assert(
      fc.property(
        fc.constantFrom(...RATE_SYMBOLS),
        fc.constantFrom(...FX_SERIES),
        texts,
        texts,
        (coin, fiat, one, other) => {
          const [price, book] = [one, other].map(([digits, exponent]) => parsePrice(`${digits}e${exponent}`))
          if (price == null || book == null || !isPlausible(coin, 'USD', price) || !isPlausible(fiat, 'USD', book))
            return
          const text = formatDecimal(multiply(publishable(price), publishable(inverse(book))))
          expect(text).toMatch(/[1-9]/)
          expect(text.split('.')[0]?.length).toBeLessThan(30)
        },
      ),
      { numRuns: 20_000 },
    )
  })
})
