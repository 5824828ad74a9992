import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { EVERY_CASE } from '#test/support/every-case.ts'
import { FIAT_CODES } from '../enumerations.ts'
import {
  compare,
  divide,
  divideUp,
  FIAT_EXPONENT,
  formatDecimal,
  formatFiat,
  formatUnits,
  multiply,
  parseDecimal,
  parseFiat,
  parseUnits,
  quoteAmountBase,
} from './money.ts'

const RUNS = { numRuns: EVERY_CASE ? 20_000 : 5_000 }
const decimals = fc.integer({ min: 0, max: 18 })
const baseUnits = fc.bigInt({ min: 0n, max: 10n ** 30n })

describe('amounts', () => {
  // Guarantee: an amount survives every trip over the wire, for tokens of any precision.
  it('round trip through their one canonical text', () => {
    fc.assert(
      fc.property(baseUnits, decimals, (base, places) => {
        const text = formatUnits(base, places)
        return parseUnits(text, places) === base && !/^0\d|\.$|\.\d*0$|[^\d.]/.test(text)
      }),
      RUNS,
    )
  })

  it.each([
    [1_500_000n, 6, '1.5'],
    [1n, 18, '0.000000000000000001'],
    [0n, 8, '0'],
    [100n, 0, '100'],
  ])('%s with %s decimals is %s', (base, places, text) => {
    expect(formatUnits(base, places)).toBe(text)
    expect(parseUnits(text, places)).toBe(base)
  })

  // Guarantee: nothing is guessed or rounded when money is read.
  it.each(['', '.', '1.', '.5', '01', '00', '-1', '+1', '1e3', '1,5', ' 1', '1 ', '0x1', 'NaN', '١', '1'.repeat(121)])(
    'refuses %j',
    (text) => {
      expect(() => parseUnits(text, 18)).toThrow(RangeError)
    },
  )

  it('refuses more decimals than the asset has, and negative amounts', () => {
    expect(() => parseUnits('1.0000000', 6)).toThrow('more than 6 decimals')
    expect(() => formatUnits(-1n, 6)).toThrow(RangeError)
    expect(() => formatFiat(-1n, 'USD')).toThrow(RangeError)
  })
})

describe('fiat', () => {
  it('prints exactly the digits of ISO 4217 and reads them back', () => {
    fc.assert(
      fc.property(baseUnits, fc.constantFrom(...FIAT_CODES), (minor, currency) => {
        const text = formatFiat(minor, currency)
        return (text.split('.')[1] ?? '').length === FIAT_EXPONENT[currency] && parseFiat(text, currency) === minor
      }),
      RUNS,
    )
  })

  it.each([
    ['12.5', 'USD', 1_250n, '12.50'],
    ['0.05', 'EUR', 5n, '0.05'],
    ['1200', 'CLP', 1_200n, '1200'],
  ] as const)('%s %s', (value, currency, minor, printed) => {
    expect(parseFiat(value, currency)).toBe(minor)
    expect(formatFiat(minor, currency)).toBe(printed)
  })

  it('has no decimals in Chile', () => {
    expect(() => parseFiat('1.0', 'CLP')).toThrow('more than 0 decimals')
  })
})

describe('decimals', () => {
  const decimal = fc.record({ digits: baseUnits, scale: decimals })

  it('keep their value through text, product and comparison', () => {
    fc.assert(
      fc.property(decimal, decimal, (left, right) => {
        const product = multiply(left, right)
        return (
          compare(parseDecimal(formatDecimal(left)), left) === 0 &&
          compare(product, multiply(right, left)) === 0 &&
          compare(left, right) === -compare(right, left) + 0
        )
      }),
      RUNS,
    )
  })

  it('divide between two neighbours of the exact quotient', () => {
    const divisor = decimal.filter((one) => one.digits > 0n)
    fc.assert(
      fc.property(decimal, divisor, decimals, (left, right, digits) => {
        const down = divide(left, right, digits)
        const up = divideUp(left, right, digits)
        const apart = up.digits - down.digits
        const exact = compare(multiply(down, right), left) === 0
        return (
          compare(multiply(down, right), left) <= 0 &&
          compare(multiply(up, right), left) >= 0 &&
          apart === (exact ? 0n : 1n)
        )
      }),
      RUNS,
    )
  })

  it('refuse to divide by zero', () => {
    const zero = parseDecimal('0')
    expect(() => divide(zero, zero, 2)).toThrow('division by zero')
    expect(() => divideUp(zero, zero, 2)).toThrow('division by zero')
  })
})

describe('the amount due', () => {
  // Guarantee: a payer who pays what is shown has paid enough, and never a whole display unit too much.
  it('is at least the exact quotient and above it by less than one display unit', () => {
    const input = fc.record({
      fiatMinor: fc.bigInt({ min: 1n, max: 10n ** 14n }),
      currency: fc.constantFrom(...FIAT_CODES),
      rateDigits: fc.bigInt({ min: 1n, max: 10n ** 20n }),
      rateScale: fc.integer({ min: 0, max: 18 }),
      decimals,
      fewer: fc.integer({ min: 0, max: 18 }),
    })
    fc.assert(
      fc.property(input, ({ fiatMinor, currency, rateDigits, rateScale, decimals: places, fewer }) => {
        const displayDecimals = Math.max(0, places - fewer)
        const fiatPerAsset = formatDecimal({ digits: rateDigits, scale: rateScale })
        const base = quoteAmountBase({ fiatMinor, currency, fiatPerAsset, decimals: places, displayDecimals })
        const unit = 10n ** BigInt(places - displayDecimals)
        // base / 10^places × rate ≥ fiat > (base − unit) / 10^places × rate, cleared of fractions.
        const owed = fiatMinor * 10n ** BigInt(places + rateScale)
        const worth = (amount: bigint) => amount * rateDigits * 10n ** BigInt(FIAT_EXPONENT[currency])
        return worth(base) >= owed && worth(base - unit) < owed && base % unit === 0n
      }),
      RUNS,
    )
  })

  it.each([
    ['10.00 USD at 3 per ETH', 1_000n, 'USD', '3', 18, 6, 3_333_334_000_000_000_000n],
    ['10.00 USD at 1 per USDT', 1_000n, 'USD', '1', 6, 2, 10_000_000n],
    ['10.00 USD at 0.9999 per USDT', 1_000n, 'USD', '0.9999', 6, 2, 10_010_000n],
    ['1000 CLP at 58000000.5 per BTC', 1_000n, 'CLP', '58000000.5', 8, 8, 1_725n],
  ] as const)('%s', (_, fiatMinor, currency, fiatPerAsset, places, displayDecimals, base) => {
    expect(quoteAmountBase({ fiatMinor, currency, fiatPerAsset, decimals: places, displayDecimals })).toBe(base)
  })

  it('refuses a zero or malformed rate and a display finer than the asset', () => {
    const input = { fiatMinor: 1n, currency: 'USD', fiatPerAsset: '1', decimals: 6, displayDecimals: 2 } as const
    expect(() => quoteAmountBase({ ...input, fiatPerAsset: '0.00' })).toThrow('the rate is zero')
    expect(() => quoteAmountBase({ ...input, fiatPerAsset: '1e3' })).toThrow(RangeError)
    expect(() => quoteAmountBase({ ...input, displayDecimals: 7 })).toThrow(RangeError)
  })
})
