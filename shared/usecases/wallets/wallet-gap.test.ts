import { expect, it } from 'vitest'
import { addressClaim } from './address-standing.ts'
import { walletGap } from './wallet-gap.ts'

const FIRST = { state: 'known', waitingFor: [], searched: [], lastUsedIndex: null, givenIndex: null } as const
const HISTORY = { ...FIRST, startIndex: 0 }
const KEY = { id: 'key', mode: 'live', family: 'evm', history: HISTORY } as const
const claimAt = (index: number) => addressClaim('live', 'evm', `address-${index}`)

function setUp(paid: readonly number[]) {
  const reads = { count: 0 }
  const deps = {
    wallets: {
      addressesAt: async (_id: string, indexes: readonly number[]) => {
        reads.count += 1
        return indexes.map((index) => ({ index, matchKey: `address-${index}`, address: `address-${index}` }))
      },
    },
    invoices: { claimsPaid: async () => new Set(paid.map(claimAt)) },
  }
  return { deps: deps as never, reads }
}

// Guarantee: a page that shows a wallet costs the same, however many addresses were issued, and says when it did not look at all of them.
it('reads the newest addresses of a key with millions', async () => {
  const { deps, reads } = setUp([12, 3_999_000, 3_999_700])
  const gap = await walletGap(deps, { ...KEY, nextIndex: 4_000_000 }, 2_000)
  expect(gap).toEqual({ lastPaidIndex: 3_999_700, nextIndex: 4_000_000, requiredGap: 1_001, isComplete: false })
  expect(reads.count).toBe(4)
})

it('reads all of a key with few', async () => {
  const { deps } = setUp([1, 7])
  const gap = await walletGap(deps, { ...KEY, nextIndex: 10 }, 2_000)
  expect(gap).toEqual({ lastPaidIndex: 7, nextIndex: 10, requiredGap: 6, isComplete: true })
})
