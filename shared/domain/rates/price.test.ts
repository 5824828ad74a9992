import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { compare, formatDecimal, parseDecimal } from '#shared/domain/money/money.ts'
import { inverse, midOf, parsePrice, publishable } from './price.ts'

const text = (value: ReturnType<typeof parsePrice>) => (value === null ? null : formatDecimal(value))

describe('parsePrice', () => {
  it.each([
    ['71250.12', '71250.12'],
    ['71250.00000000000000000000', '71250'],
    ['1e-05', '0.00001'],
    ['1.5E+3', '1500'],
    ['0665', '665'],
    ['5e-7', '0.0000005'],
  ])('reads %s as %s', (input, expected) => {
    expect(text(parsePrice(input))).toBe(expected)
  })

  // A price that cannot be read does not exist: it must never become 0 or 1.
  it.each([
    '',
    '0',
    '0.000',
    '0e5',
    'nan',
    'NaN',
    'inf',
    '-1',
    '+1',
    '1,234.5',
    '1.',
    '.5',
    ' 1',
    '1e99',
    '1e-99',
    '9'.repeat(41),
  ])('finds no price in %j', (input) => {
    expect(parsePrice(input)).toBeNull()
  })

  it('keeps every digit of any double that JavaScript prints', () => {
    fc.assert(
      fc.property(fc.double({ min: 1e-12, max: 1e12, noNaN: true }), (value) => {
        expect(Number(text(parsePrice(String(value))))).toBe(value)
      }),
    )
  })
})

describe('midOf', () => {
  const mid = (bid: string, ask: string) => text(midOf(parseDecimal(bid), parseDecimal(ask)))

  it('is the exact middle, also when bid and ask are equal', () => {
    expect(mid('0.0984901', '0.0985099')).toBe('0.0985')
    expect(mid('1', '1')).toBe('1')
  })

  it('is none for a crossed book and for one wider than 1 %', () => {
    expect(mid('100.01', '100')).toBeNull()
    expect(mid('99', '101')).toBeNull()
    expect(mid('99.5', '100.5')).toBe('100')
  })
})

describe('publishable', () => {
  it('keeps 14 significant digits and short prices whole', () => {
    expect(formatDecimal(publishable(inverse(parseDecimal('1.138'))))).toBe('0.87873462214411')
    expect(formatDecimal(publishable(parseDecimal('71253.5625')))).toBe('71253.5625')
  })

  it('never loses more than one part in 10^13', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: 1n, max: 10n ** 30n }), (digits) => {
        const price = { digits, scale: 18 }
        const cut = publishable(price)
        expect(compare(cut, price)).not.toBe(1)
        expect((price.digits * 10n ** BigInt(cut.scale) - cut.digits * 10n ** 18n) * 10n ** 13n).toBeLessThanOrEqual(
          price.digits * 10n ** BigInt(cut.scale),
        )
      }),
    )
  })
})
