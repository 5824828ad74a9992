import { expect, it } from 'vitest'
import type { ConfirmationTier } from '#shared/domain/payment/confirmation-tiers.ts'
import { tiersFault } from './tiers-fault.ts'

const TIERS: readonly ConfirmationTier[] = [
  { fromUsd: 0, confirmations: 1 },
  { fromUsd: 100, confirmations: 2 },
  { fromUsd: 10_000, confirmations: 'finalized' },
]

it.each<readonly [string, unknown, RegExp]>([
  ['no table', 'x', /at least one/],
  ['no tier', [], /at least one/],
  ['a first tier above 0', [{ fromUsd: 1, confirmations: 1 }], /begin at 0/],
  ['a first tier without a threshold', [{ confirmations: 1 }], /whole number of US dollars/],
  ['thresholds that do not ascend', [TIERS[0], { fromUsd: 0, confirmations: 2 }], /increase/],
  ['a negative threshold', [{ fromUsd: -1, confirmations: 1 }], /from 0/],
  ['cents', [TIERS[0], { fromUsd: 9.5, confirmations: 2 }], /whole number/],
  ['no confirmation at all', [{ fromUsd: 0, confirmations: 0 }], /from 1/],
  ['too many confirmations', [{ fromUsd: 0, confirmations: 10_001 }], /to 10000/],
  ['half a confirmation', [{ fromUsd: 0, confirmations: 1.5 }], /whole number/],
  ['text', [{ fromUsd: 0, confirmations: '2' }], /whole number/],
  [
    'less for more',
    [
      { fromUsd: 0, confirmations: 3 },
      { fromUsd: 5, confirmations: 2 },
    ],
    /must not require fewer/,
  ],
  [
    'a tier after finality',
    [
      { fromUsd: 0, confirmations: 'finalized' },
      { fromUsd: 5, confirmations: 9 },
    ],
    /must be the last tier/,
  ],
  ['eleven tiers', Array.from({ length: 11 }, (_, index) => ({ fromUsd: index, confirmations: 1 })), /at most 10/],
  ['null for a tier', [null], /whole number/],
])('refuses %s', (_name, tiers, words) => {
  expect(tiersFault(tiers, true)).toMatch(words)
})

it('takes a good table, and finality only where blocks become final', () => {
  expect(tiersFault(TIERS, true)).toBeNull()
  expect(tiersFault(TIERS, false)).toMatch(/no final blocks/)
})
