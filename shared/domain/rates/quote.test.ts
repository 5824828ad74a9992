import { describe, expect, it } from 'vitest'
import { parseDecimal } from '#shared/domain/money/money.ts'
import { type Feed, isFresh, observedAt, type Quote } from './quote.ts'

const NOW = 1_800_000_000_000
const MINUTE = 60_000
const HOUR = 60 * MINUTE

function quote(feed: Feed, receivedAgoMs: number, sourceAgoMs: number | null): Quote {
  return {
    source: 's',
    base: 'BTC',
    quote: 'USD',
    price: parseDecimal('1'),
    feed,
    receivedAt: NOW - receivedAgoMs,
    sourceAt: sourceAgoMs === null ? null : NOW - sourceAgoMs,
  }
}

describe('isFresh', () => {
  it.each<[Feed, number, number | null, boolean]>([
    ['book', MINUTE, null, true],
    ['book', MINUTE + 1, null, false],
    ['book', 0, MINUTE, true],
    ['book', 0, MINUTE + 1, false],
    ['book', 0, -5_000, true],
    ['book', 0, -5_001, false],
    ['rolling', 15 * MINUTE, null, true],
    ['rolling', 15 * MINUTE + 1, null, false],
    ['rolling', 0, 30 * MINUTE + 1, false],
    ['daily', 0, 30 * HOUR, true],
    ['daily', 0, 30 * HOUR + 1, false],
    ['daily', 0, null, false],
  ])('%s received %i ms ago, stamped %j ms ago: %s', (feed, received, stamped, expected) => {
    expect(isFresh(quote(feed, received, stamped), NOW)).toBe(expected)
  })

  it('sees through seconds that were given as milliseconds and the reverse', () => {
    expect(isFresh({ ...quote('book', 0, null), sourceAt: NOW / 1_000 }, NOW)).toBe(false)
    expect(isFresh({ ...quote('book', 0, null), sourceAt: NOW * 1_000 }, NOW)).toBe(false)
  })
})

describe('observedAt', () => {
  it('is the older of the two times', () => {
    expect(observedAt(quote('book', 10, 20))).toBe(NOW - 20)
    expect(observedAt(quote('book', 10, -3))).toBe(NOW - 10)
    expect(observedAt(quote('book', 10, null))).toBe(NOW - 10)
  })
})
