import { describe, expect, it } from 'vitest'
import {
  chainOf,
  DEVNET,
  failure,
  found,
  SLOTS,
  TIME,
  unreliable,
  useFakeSolana,
  watches,
} from '#test/support/fake-solana.ts'

const { startNode, clientOf } = useFakeSolana()

describe('an honest node', () => {
  it('gives its head, its finality, and blocks that link with the skipped slots left out', async () => {
    const client = clientOf(await startNode([...SLOTS, 60]))
    await client.verify()
    expect(await client.genesisHash()).toBe(DEVNET)
    expect(await client.head()).toMatchObject({ height: 60, finalizedHeight: 28 })
    const blocks = await client.scan(10, 18, watches)
    expect(blocks.map(({ height, time }) => [height, time])).toEqual(SLOTS.map((slot) => [slot, (TIME + slot) * 1_000]))
    for (const [index, block] of blocks.slice(1).entries()) expect(block.parentHash).toBe(blocks[index]?.hash)
    expect(await client.blockAt(15)).toEqual({ ...blocks[2], transfers: undefined })
  })

  it('reads transactions of version 1', async () => {
    const client = clientOf(await startNode(SLOTS))
    expect(await found(client, 10, 11)).toEqual([
      [10, 10n],
      [11, 11n],
    ])
  })

  // Guarantee: the cursor always finds a next block, however many slots in a row are empty.
  it('gives the first block after a range of skipped slots', async () => {
    const client = clientOf(await startNode(SLOTS))
    expect(await found(client, 12, 13)).toEqual([[15, 15n]])
    expect(await found(client, 12, 16)).toEqual([[15, 15n]])
  })

  it('says that a slot was skipped only when a later block shows it', async () => {
    const node = await startNode(SLOTS)
    const client = clientOf(node)
    expect(await client.blockAt(12)).toBeNull()
    expect(await client.blockAt(16)).toBeNull()
    node.lie = ({ method, params: [slot] }) => (method === 'getBlock' && slot === 15 ? { result: null } : null)
    // Guarantee: a node that lags or lost blocks does not look like a fork.
    await expect(client.blockAt(15)).rejects.toEqual(unreliable)
    await expect(client.blockAt(19)).rejects.toEqual(unreliable)
  })

  it('that does not have its newest blocks yet is read as far as it goes', async () => {
    const node = await startNode(SLOTS)
    const client = clientOf(node)
    node.lie = ({ method, params: [slot] }) => (method === 'getBlock' && slot >= 17 ? failure(-32_004) : null)
    expect(await found(client, 11, 18)).toEqual([
      [11, 11n],
      [15, 15n],
    ])
    await expect(client.scan(16, 18, watches)).rejects.toMatchObject({ name: 'BlockUnreadable', block: { height: 17 } })
    expect(await client.head()).toMatchObject({ height: 15 })
    node.lie = () => null
    expect(await client.head()).toMatchObject({ height: 18 })
  })

  // Guarantee: a block store behind the votes costs no head, at the start or later, however long it stays behind; its list may be ahead of it.
  it.each([true, false])('has a head where blocks come later than votes (listed with them: %s)', async (listed) => {
    const slots = Array.from({ length: 200 }, (_, index) => 100 + index)
    const node = await startNode(slots)
    let [votes, blocks] = [150, 150]
    node.lie = ({ method, params: [first, second] }) => {
      if (method === 'getSlot') return { result: votes }
      if (method === 'getBlock' && first > blocks) return failure(-32_004)
      const known = slots.filter((slot) => slot <= (listed ? votes : blocks))
      if (method === 'getBlocks') return { result: known.filter((slot) => slot >= first && slot <= second) }
      return method === 'getBlocksWithLimit' ? { result: known.filter((slot) => slot >= first).slice(0, 1) } : null
    }
    for (const lag of [0, 1, 2, 5, 20, 31]) {
      const client = clientOf(node)
      for (let look = 0; look < 25; look += 1) {
        votes += 1
        blocks = votes - lag
        const { height, finalizedHeight } = await client.head()
        expect(height).toBeLessThanOrEqual(blocks)
        expect(height).toBeGreaterThanOrEqual(votes - 32)
        if (lag < 3) expect(height).toBe(blocks)
        expect(finalizedHeight).toBeLessThanOrEqual(height)
      }
      votes -= 25
    }
    blocks = votes - 40
    await expect(clientOf(node).head()).rejects.toThrow(/slots 118 to 150: .*Block not available/)
  })

  it('on another branch after a fork shows other hashes at the same slots, linked among themselves', async () => {
    const node = await startNode(SLOTS)
    const client = clientOf(node)
    const before = await client.scan(15, 18, watches)
    node.blocks = [...chainOf([10, 11]), ...chainOf([10, 11, 16, 18, 19], 1).slice(2)]
    const [fork, ...rest] = node.blocks.slice(2)
    if (fork === undefined) throw new Error('no fork')
    node.blocks = [...chainOf([10, 11]), { ...fork, previousBlockhash: chainOf([11])[0]?.blockhash ?? '' }, ...rest]
    expect(await client.blockAt(15)).toBeNull()
    expect((await client.blockAt(18))?.hash).not.toBe(before.at(-1)?.hash)
    expect(await found(client, 12, 19)).toEqual([
      [16, 16n],
      [18, 18n],
      [19, 19n],
    ])
  })

  it('without a usable block time is asked for it', async () => {
    const node = await startNode(SLOTS)
    node.blocks = node.blocks.map((block, index) => ({ ...block, blockTime: index === 0 ? null : 1_795_271 }))
    expect((await clientOf(node).scan(10, 11, watches)).map(({ time }) => time)).toEqual([
      (TIME + 10) * 1_000,
      (TIME + 11) * 1_000,
    ])
  })

  it('stands for its first block itself', async () => {
    expect(await clientOf(await startNode(SLOTS)).blockAt(0)).toMatchObject({ height: 0, hash: DEVNET })
  })
})
