import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { fiatCrossRate, reportedMinor } from './reporting-value.ts'

const terms = (minor: bigint, currency: 'USD' | 'EUR' | 'CLP', rate: string | null, to: 'USD' | 'CLP' = 'USD') => ({
  fiat: { minor, currency },
  ...(rate !== null && { reporting: { currency: to, rate, at: 1 } }),
})

describe('the value of an invoice in the reporting currency', () => {
  it('is the price itself in the same currency, whatever rate is stored', () => {
    expect(reportedMinor(terms(1_250n, 'USD', null), 'USD')).toBe(1_250n)
    expect(reportedMinor(terms(1_250n, 'USD', '7', 'CLP'), 'USD')).toBe(1_250n)
  })

  it('is unknown without a rate into that currency', () => {
    expect(reportedMinor(terms(1_250n, 'EUR', null), 'USD')).toBeNull()
    expect(reportedMinor(terms(1_250n, 'EUR', '2', 'CLP'), 'USD')).toBeNull()
  })

  it('is rounded half up to the minor unit, also between currencies with other decimals', () => {
    expect(reportedMinor(terms(1n, 'EUR', '0.5'), 'USD')).toBe(1n)
    expect(reportedMinor(terms(1n, 'EUR', '0.49'), 'USD')).toBe(0n)
    expect(reportedMinor(terms(1_000n, 'CLP', '0.00105'), 'USD')).toBe(105n)
    expect(reportedMinor(terms(150n, 'EUR', '1000.333', 'CLP'), 'CLP')).toBe(1_500n)
  })

  // Guards sums of money: no amount is off by more than half a minor unit and what 18 decimals of a rate cut off.
  it('differs from the exact product by at most half a minor unit', () => {
    const amount = fc.bigInt({ min: 0n, max: 10n ** 20n })
    const rate = fc.tuple(fc.bigInt({ min: 1n, max: 10n ** 12n }), fc.integer({ min: 0, max: 18 }))
    fc.assert(
      fc.property(amount, rate, (minor, [digits, scale]) => {
        const padded = digits.toString().padStart(scale + 1, '0')
        const cut = padded.length - scale
        const text = scale === 0 ? padded : `${padded.slice(0, cut)}.${padded.slice(cut)}`
        const found = reportedMinor(terms(minor, 'EUR', text), 'USD') ?? -1n
        const off = found * 10n ** BigInt(scale) - minor * digits
        expect((off < 0n ? -off : off) * 2n).toBeLessThanOrEqual(10n ** BigInt(scale))
      }),
      { numRuns: 5_000 },
    )
  })
})

describe('a rate between two currencies', () => {
  it('comes from the price of each for one US dollar', () => {
    expect(fiatCrossRate('0.5', '1')).toBe('2')
    expect(fiatCrossRate('1', '58.25')).toBe('58.25')
    expect(fiatCrossRate('3', '1')).toBe('0.333333333333333333')
    expect(() => fiatCrossRate('0', '1')).toThrow(RangeError)
  })
})
