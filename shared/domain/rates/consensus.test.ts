import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { compare, type Decimal, formatDecimal, parseDecimal } from '#shared/domain/money/money.ts'
import { agree, type Vote } from './consensus.ts'

const RULE = { maxDeviation: parseDecimal('0.03'), minVotes: 3 }

function votes(...prices: readonly string[]): readonly Vote[] {
  return prices.map((price, index) => ({
    source: `s${index}`,
    price: parseDecimal(price),
    observedAt: 1_000 + index,
    receivedAt: 2_000 + index,
  }))
}

describe('agree', () => {
  it('takes the middle of an odd number and the exact mean of the two middle ones of an even number', () => {
    expect(agree(votes('100', '102', '101'), RULE)).toMatchObject({ price: parseDecimal('101'), oldestAt: 1_000 })
    const even = agree(votes('100', '101', '100.5', '100.1'), RULE)
    expect(even === null ? null : formatDecimal(even.price)).toBe('100.3')
  })

  it('leaves an outlier out, names it, and takes its age from those that are left', () => {
    const result = agree(votes('1000', '100', '101', '102'), RULE)
    expect(result).toMatchObject({ outliers: ['s0'], sources: ['s1', 's2', 's3'], oldestAt: 1_001, receivedAt: 2_003 })
    expect(result === null ? null : formatDecimal(result.price)).toBe('101')
  })

  it('has no price with too few votes, or with two camps that contradict each other', () => {
    expect(agree(votes('100', '100'), RULE)).toBeNull()
    expect(agree(votes('100', '100', '110', '110'), RULE)).toBeNull()
    expect(agree(votes('100', '100', '200'), RULE)).toBeNull()
    expect(agree([], RULE)).toBeNull()
  })

  // Money: a mean between two prices that contradict each other is nobody's price.
  it('has no price when the two middle votes are further apart than the limit', () => {
    const two = { maxDeviation: parseDecimal('0.02'), minVotes: 2 }
    expect(agree(votes('61.5', '63.9'), two)).toBeNull()
    expect(agree(votes('61.5', '62.7'), two)?.price).toEqual(parseDecimal('62.10'))
    expect(agree(votes('100', '100', '105.9', '105.9'), RULE)).toBeNull()
    expect(agree(votes('100', '100', '100', '105.8', '105.8', '105.8'), RULE)).toBeNull()
    expect(agree(votes('100', '103.5', '200', '100.5'), RULE)?.sources).toEqual(['s0', 's1', 's3'])
  })

  // Money: three sources that agree are not believed against five that each say something else.
  it('has no price when fewer than half of the votes agree, although they are enough', () => {
    expect(agree(votes('50', '60', '70', '100', '101', '102', '150', '200'), RULE)).toBeNull()
    expect(agree(votes('60', '70', '100', '101', '102', '150'), RULE)).toMatchObject({ sources: ['s2', 's3', 's4'] })
  })

  // Money: one wild source among four or more must not set the price.
  it('never lets one wild vote move the price outside the range of the others', () => {
    const near = fc
      .integer({ min: 99_000, max: 101_000 })
      .map((value): Decimal => ({ digits: BigInt(value), scale: 3 }))
    const wild = fc.record({ digits: fc.bigInt({ min: 1n, max: 10n ** 30n }), scale: fc.integer({ min: 0, max: 30 }) })
    fc.assert(
      fc.property(fc.array(near, { minLength: 3, maxLength: 9 }), wild, fc.nat(), (honest, odd, at) => {
        const prices = [...honest]
        prices.splice(at % (honest.length + 1), 0, odd)
        const result = agree(
          prices.map((price, index) => ({ source: `s${index}`, price, observedAt: index, receivedAt: index })),
          RULE,
        )
        expect(result).not.toBeNull()
        const sorted = [...honest].sort(compare)
        expect(compare(result?.price ?? odd, sorted[0] ?? odd)).not.toBe(-1)
        expect(compare(result?.price ?? odd, sorted.at(-1) ?? odd)).not.toBe(1)
      }),
      { numRuns: 5_000 },
    )
  })

  it('does not depend on the order of the votes', () => {
    const price = fc.integer({ min: 90, max: 110 }).map((value): Decimal => ({ digits: BigInt(value), scale: 0 }))
    fc.assert(
      fc.property(fc.array(price, { maxLength: 8 }), (prices) => {
        const given = prices.map((each, index) => ({
          source: `s${index}`,
          price: each,
          observedAt: index,
          receivedAt: index,
        }))
        const result = agree(given, RULE)
        const reversed = agree([...given].reverse(), RULE)
        expect(reversed?.sources).toEqual(result?.sources)
        if (result !== null && reversed !== null) expect(compare(result.price, reversed.price)).toBe(0)
      }),
    )
  })
})
