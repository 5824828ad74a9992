import { describe, expect, it } from 'vitest'
import type { Payment } from '#shared/ports/payments.ts'
import { increaseKey } from '#shared/usecases/payments/balance-increase-keys.ts'
import { type IncreaseScope, placeIncreases } from './balance-increase-transfers.ts'

const PLACE = { mode: 'test', network: 'ethereum' } as const
const MATCH_KEY = 'ab'.repeat(20)
const BLOCK = { height: 2_000_000, hash: '0xb', parentHash: '0xa', time: 0 }
const keyOf = (ordinal: number) => increaseKey(PLACE, MATCH_KEY, 1n, ordinal)

/** Places so many increases of one wei where payments with these keys are stored; `orphaned` ones are in no block any more. */
async function placed(count: number, ordinals: readonly number[], orphaned: readonly number[] = []) {
  const stored = new Map(
    ordinals.map((ordinal) => {
      const isOrphaned = orphaned.includes(ordinal)
      const block = { height: ordinal, hash: `0x${ordinal}`, time: 0 }
      const facts = { state: isOrphaned ? 'orphaned' : 'detected', block: isOrphaned ? null : block, invoiceId: null }
      return [keyOf(ordinal), { key: keyOf(ordinal), ...facts } as unknown as Payment]
    }),
  )
  let read = 0
  const payments = {
    async findByKeys(keys: readonly string[]) {
      const found = keys.flatMap((key) => stored.get(key) ?? [])
      read += found.length
      return found
    },
  }
  const balances = { asset: 'eth_ethereum', addressOf: String, second: async () => new Map() }
  const scope = {
    deps: { payments, invoices: { watchedMethods: async () => [] } },
    source: { ...PLACE, client: { balances, blockAt: async () => null } },
    cursor: { height: 1_000_000, time: 0 },
  } as unknown as IncreaseScope
  const increase = { since: { height: 1, hash: '0x1' }, beforeBase: '0', afterBase: '1' }
  const found = Array.from({ length: count }, () => ({ height: BLOCK.height, amountBase: 1n, increase }))
  const transfers = await placeIncreases(scope, [BLOCK], MATCH_KEY, found)
  return { keys: transfers.map(({ transfer }) => transfer.key), read }
}

const upTo = (end: number): readonly number[] => Array.from({ length: end }, (_, ordinal) => ordinal)

describe('the key of an increase', () => {
  // Guarantee: it is one that no payment has, however many there are: another one would be moved and its money lost.
  it.each([0, 1, 31, 32, 33, 63, 64, 65, 127, 1_000, 20_001])(
    'behind %i payments of its amount is new',
    async (end) => {
      expect((await placed(2, upTo(end))).keys).toEqual([keyOf(end), keyOf(end + 1)])
    },
  )

  // Guarantee: a stranger who sends the same amount in every block makes no block slower.
  it('costs few reads, however many payments of its amount there are', async () => {
    expect((await placed(1, upTo(20_000))).read).toBeLessThanOrEqual(64 + 2 * Math.ceil(Math.log2(20_000)))
  })

  it('is that of a payment that left its block', async () => {
    expect((await placed(2, upTo(5), [3])).keys).toEqual([keyOf(3), keyOf(5)])
    expect((await placed(2, upTo(20_000), [19_990])).keys).toEqual([keyOf(19_990), keyOf(20_000)])
  })

  it('fills a gap that deleted payments left', async () => {
    expect((await placed(2, upTo(100).slice(50))).keys).toEqual([keyOf(0), keyOf(1)])
  })
})
