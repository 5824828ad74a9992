import { describe, expect, it } from 'vitest'
import type { Payment } from '#shared/ports/payments.ts'
import { firstSeenOfReplaced } from './first-seen-of-replaced.ts'

const OURS = 'a'
const paid = (txHash: string, amount: number, firstSeenAt: number, spends: readonly string[], matchKey = OURS) =>
  ({
    key: `${txHash}:${matchKey}:${amount}`,
    txHash,
    matchKey,
    amountBase: BigInt(amount),
    firstSeenAt,
    spends,
  }) as Payment
const pays = (txHash: string, amount: number, spends: readonly string[], matchKey = OURS) => ({
  ...{ key: `${txHash}:${amount}`, txHash, matchKey, spends },
  amountBase: BigInt(amount),
})
const timesOf = (earlier: readonly Payment[], now: readonly ReturnType<typeof pays>[]) =>
  now.map(firstSeenOfReplaced(earlier, now)).filter(Number.isFinite)

// Guarantee: a payer who raises the fee of a payment in time has paid in time, and a little paid in time holds no price open for the rest.
describe('a transaction that spends an output of an earlier payment', () => {
  it.each<[does: string, earlier: readonly Payment[], now: ReturnType<typeof pays>[], seenAt: readonly number[]]>([
    ['pays the same', [paid('one', 9, 1, ['x'])], [pays('two', 9, ['x'])], [1]],
    ['pays less', [paid('one', 9, 1, ['x'])], [pays('two', 5, ['x', 'y'])], [1]],
    ['pays more', [paid('one', 9, 1, ['x'])], [pays('two', 10, ['x'])], []],
    ['pays more in parts', [paid('one', 9, 1, ['x'])], [pays('two', 8, ['x']), pays('two', 2, ['x'])], []],
    [
      'pays in one what came in two parts',
      [paid('one', 5, 1, ['x']), paid('one', 4, 1, [])],
      [pays('two', 9, ['x'])],
      [1],
    ],
    [
      'pays as much as the second of two that it replaces',
      [paid('one', 1, 1, ['x']), paid('one b', 9, 2, ['y'])],
      [pays('two', 9, ['x', 'y'])],
      [2],
    ],
    [
      'pays as much as two conflicting ones together',
      [paid('one', 5, 1, ['x']), paid('one b', 5, 1, ['x'])],
      [pays('two', 10, ['x'])],
      [],
    ],
    [
      'pays as much as two together',
      [paid('one', 4, 1, ['x']), paid('one b', 5, 2, ['y'])],
      [pays('two', 9, ['x', 'y'])],
      [2],
    ],
    [
      'pays more than two together',
      [paid('one', 4, 1, ['x']), paid('one b', 5, 2, ['y'])],
      [pays('two', 10, ['x', 'y'])],
      [],
    ],
    [
      'pays as much as two together of which one was replaced before',
      [paid('one', 4, 1, ['x']), paid('one b', 5, 2, ['y']), paid('one c', 5, 3, ['y', 'z'])],
      [pays('two', 14, ['x', 'y', 'z'])],
      [],
    ],
    ['pays another script', [paid('one', 9, 1, ['x'], 'b')], [pays('two', 9, ['x'])], []],
    [
      'is the same, with an output more',
      [paid('one', 9, 1, ['x'])],
      [pays('one', 9, ['x']), pays('one', 3, ['x'])],
      [1, 1],
    ],
  ])('%s', (_, earlier, now, seenAt) => {
    expect(timesOf(earlier, now)).toEqual(seenAt)
  })
})
