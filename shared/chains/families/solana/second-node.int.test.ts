import { describe, expect, it } from 'vitest'
import {
  bytes,
  chainOf,
  type FakeNode,
  failure,
  found,
  on,
  onSlot,
  SLOTS,
  unreliable,
  useFakeSolana,
  watches,
  words,
} from '#test/support/fake-solana.ts'

const { startNode, clientOf } = useFakeSolana()

const isBlock15 = ({ method, params: [slot] }: Parameters<FakeNode['lie']>[0]) => method === 'getBlock' && slot === 15
const missing: FakeNode['lie'] = (call) => (isBlock15(call) ? failure(-32_007) : null)
/** The rate limit of a provider under a code of Agave (foundry-rs/foundry#4894, 2023-05). */
const limited: FakeNode['lie'] = (call) =>
  isBlock15(call) ? words(-32_007, '50/second request limit reached - reduce calls per second or upgrade') : null
/** Slot 17 follows slot 11: slot 15 was skipped. */
const branch: FakeNode['lie'] = (call, truth) =>
  missing(call, truth) ?? onSlot(17, () => ({ parentSlot: 11 }))(call, truth)

describe('a second node', () => {
  const LATER = [...SLOTS, 60]

  async function querySecond(second: FakeNode, slot: number) {
    const client = clientOf(await startNode(LATER), 'test', null, [second.url])
    const [block] = await client.scan(slot, slot, watches)
    const [transfer] = block?.transfers ?? []
    if (block === undefined || transfer === undefined) throw new Error('nothing was paid')
    const { txHash } = transfer
    const disputed = await client.disputed?.([{ txHash, height: slot, blockHash: block.hash, transfer }])
    return disputed?.has(txHash)
  }

  /** Tells that each transaction paid so much, to us or to another account. */
  function paying(amount: number, to?: string): FakeNode['lie'] {
    return ({ method }, truth) => {
      if (method !== 'getTransaction' || !('result' in truth)) return null
      const recorded = structuredClone(truth.result) as {
        meta: { postBalances: number[] }
        transaction: { message: { accountKeys: { pubkey: string }[] } }
      }
      const [, ours] = recorded.transaction.message.accountKeys
      if (ours !== undefined && to !== undefined) ours.pubkey = to
      recorded.meta.postBalances[1] = amount
      return { result: recorded }
    }
  }

  it('vouches for what it shows as finalized and successful in the same block', async () => {
    expect(await querySecond(await startNode(LATER), 15)).toBe(false)
  })

  // Guarantee: money counts only when a second node shows it too, where there is one.
  it.each<[string, number, FakeNode['lie']]>([
    ['does not know it', 15, on('getSignatureStatuses', { result: { value: [null] } })],
    [
      'shows it as failed',
      15,
      on('getSignatureStatuses', { result: { value: [{ slot: 15, err: {}, confirmationStatus: 'finalized' }] } }),
    ],
    [
      'shows it in another slot',
      15,
      on('getSignatureStatuses', { result: { value: [{ slot: 16, err: null, confirmationStatus: 'finalized' }] } }),
    ],
    ['answers for fewer than were asked', 15, on('getSignatureStatuses', { result: { value: [] } })],
    ['has not finalized it', 60, () => null],
    ['shows with another gain', 15, paying(14)],
    ['shows as a payment to another account', 15, paying(15, bytes(9))],
    ['finds no balances of', 15, on('getTransaction', { result: null })],
    ['has another block there', 15, onSlot(15, () => ({ blockhash: bytes(66) }))],
    [
      'has no block there',
      15,
      ({ method, params: [slot] }) => (method === 'getBlock' && slot === 15 ? failure(-32_007) : null),
    ],
  ])('doubts what it %s', async (_what, slot, lie) => {
    expect(await querySecond(await startNode(LATER, lie), slot)).toBe(true)
  })

  it('that does not answer stops the confirmation; without one nobody is asked', async () => {
    const silent = await startNode(LATER, on('getSignatureStatuses', failure(-32_005)))
    await expect(querySecond(silent, 15)).rejects.toEqual(unreliable)
    expect(clientOf(await startNode(LATER)).disputed).toBeUndefined()
  })

  // Guarantee: what a node calls absent in the words of a rate limit is no vote against a block; a skipped slot that a later block shows is one.
  it.each([
    ['shows another block there', onSlot(15, () => ({ blockhash: bytes(66) })), 'gone'],
    ['shows that the slot was skipped', branch, 'gone'],
    ['has reached its rate limit', limited, 'disputed'],
    ['has lost the block', missing, 'disputed'],
    ['has the block', () => null, 'disputed'],
  ] as const)('that %s votes for it (%s)', async (_what, lie, verdict) => {
    const first = await startNode(
      LATER,
      onSlot(15, () => ({ blockhash: bytes(67) })),
    )
    const client = clientOf(first, 'test', null, [(await startNode(LATER, lie)).url])
    const hash = chainOf(LATER).find(({ slot }) => slot === 15)?.blockhash ?? ''
    expect(await client.voteOnFork?.({ height: 15, hash })).toBe(verdict)
  })

  it('takes over when the first one lies', async () => {
    const liar = await startNode(LATER, on('getBlocks', { result: [10, 11, 17, 18] }))
    const client = clientOf(liar, 'test', null, [(await startNode(LATER)).url])
    expect(await found(client, 15, 15)).toEqual([[15, 15n]])
    expect((await found(client, 10, 18)).length).toBe(SLOTS.length)
  })
})
