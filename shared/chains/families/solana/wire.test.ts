import { describe, expect, it } from 'vitest'
import { chainOf } from '#test/support/fake-solana.ts'
import { blockSchema, headerSchema } from './wire.ts'

const [block] = chainOf([15])
const [entry] = block?.transactions ?? []
if (block === undefined || entry === undefined) throw new Error('no transaction')
const parse = (changed: object) => blockSchema.safeParse({ ...block, transactions: [changed] }).success
const withMeta = (change: object) => ({ ...entry, meta: { ...entry.meta, ...change } })
const balance = (amount: string) => ({
  accountIndex: 1,
  mint: 'mint',
  owner: 'owner',
  programId: 'program',
  uiTokenAmount: { amount, decimals: 6, uiAmount: 1, uiAmountString: '1' },
})

describe('a block', () => {
  it('may hold transactions of version 1, and of any other whose balances can be read', () => {
    expect(parse({ ...entry, version: 1 })).toBe(true)
    expect(parse({ ...entry, version: 'legacy' })).toBe(true)
    expect(parse(withMeta({ postTokenBalances: [balance('15')] }))).toBe(true)
    expect(parse(withMeta({ err: { InstructionError: [0, { Custom: 1 }] } }))).toBe(true)
  })

  // Guarantee: what is missing never passes for "success" or "nothing".
  it.each<[string, object]>([
    ['no meta', { ...entry, meta: null }],
    ['no err', withMeta({ err: undefined })],
    ['no token balances', withMeta({ postTokenBalances: undefined })],
    ['no signature', { ...entry, transaction: { ...entry.transaction, signatures: [] } }],
    ['a fraction of a token unit', withMeta({ postTokenBalances: [balance('1.5')] })],
    ['a negative balance', withMeta({ postBalances: [1, -1] })],
  ])('with %s is refused', (_what, changed) => {
    expect(parse(changed)).toBe(false)
  })

  // Guarantee: a time that cannot be stored is the fault of this node: another one is asked.
  it('of a time that no date can have is refused', () => {
    const at = (blockTime: number) => headerSchema.safeParse({ ...block, blockTime }).success
    expect([at(8.64e12), at(8.64e12 + 1)]).toEqual([true, false])
  })
})
