import { describe, expect, it } from 'vitest'
import { type Figure, UnknownFigure } from '#shared/ports/account-reader.ts'
import { restsAbove } from './compare-range.ts'
import type { ScanSession } from './scan-session.ts'

const session = {
  source: { client: { accounts: { assets: ['eth_ethereum', 'usdt_ethereum'] } } },
  deps: { catalog: { asset: (asset: string) => ({ dustBase: asset === 'eth_ethereum' ? 100n : 1n }) } },
} as unknown as ScanSession

const unknown = new UnknownFigure('usdt')

// Guarantee: money is credited by newest balances as far as every node shows it, and what nobody could read is never nothing.
describe('what balances show above what is stored', () => {
  it.each<[string, readonly (bigint | null)[], readonly (readonly Figure[])[], readonly (bigint | null)[]]>([
    [
      'is the least that a node shows',
      [500n, 0n],
      [
        [900n, 7n],
        [700n, 9n],
      ],
      [200n, 7n],
    ],
    [
      'is nothing where one node shows nothing',
      [500n, 0n],
      [
        [900n, 7n],
        [500n, 0n],
      ],
      [0n, 0n],
    ],
    ['is nothing below what counts', [500n, 0n], [[599n, 0n]], [0n, 0n]],
    ['is nothing where something left', [500n, 5n], [[400n, 4n]], [0n, 0n]],
    [
      'leaves out a node that could not read',
      [0n, 0n],
      [
        [100n, unknown],
        [100n, 3n],
      ],
      [100n, 3n],
    ],
    ['is unknown where no node could read', [0n, 0n], [[100n, unknown]], [100n, null]],
    ['is unknown where what was there is', [0n, null], [[100n, 3n]], [100n, null]],
  ])('%s', (_, known, answers, expected) => {
    expect(restsAbove(session, known, answers)).toEqual(expected)
  })
})
