import { describe, expect, it } from 'vitest'
import type { SolanaClient } from '#shared/chains/families/solana/client.ts'
import type { ScannedBlock } from '#shared/ports/scanned-blocks.ts'
import {
  bytes,
  type FakeNode,
  failure,
  mint,
  mismatch,
  on,
  onSlot,
  SLOTS,
  unreliable,
  useFakeSolana,
  watches,
  words,
} from '#test/support/fake-solana.ts'

const { startNode, clientOf } = useFakeSolana()
const MAINNET = '5eykt4UsFv8P8NJdTREpY1vzqKqZKvdpKuc147dw2N9d'

/** The answers of a node that lists only these slots. */
const listing =
  (slots: readonly number[]): FakeNode['lie'] =>
  ({ method, params: [from, second] }) => {
    const found = slots.filter((slot) => slot >= from)
    if (method === 'getBlocksWithLimit') return { result: found.slice(0, 1) }
    return method === 'getBlocks' ? { result: found.filter((slot) => slot <= second) } : null
  }

/** Scans until the end, as the scanner does: from the block after the last one, again after a failure. */
async function readAll(client: SolanaClient, from: number, to: number) {
  const read: ScannedBlock[] = []
  for (let next = from, tries = 0; next <= to && tries < 12; tries += 1) {
    const blocks = await client.scan(next, to, watches).catch(() => [])
    read.push(...blocks)
    next = (blocks.at(-1)?.height ?? next - 1) + 1
  }
  return read
}

/** The block of slot 15 is missing, in the words for a skipped slot; slot 17 names it as its parent. */
const jumped: FakeNode['lie'] = (call, truth) => {
  const { method, params } = call
  if (method === 'getBlock' && (params[0] as number) === 15) return failure(-32_007)
  return listing(SLOTS.filter((slot) => slot !== 15))(call, truth)
}

describe('a block that a later one names', () => {
  const final =
    (slot: number): FakeNode['lie'] =>
    ({ method, params: [options] }) =>
      method === 'getSlot' && (options as { commitment: string }).commitment === 'finalized' ? { result: slot } : null

  // Guarantee: only a block that is lost for good may be skipped: late ones come within a minute.
  it.each([
    ['is lost where the node lacks it for long', 1_515, true],
    ['may come while it is young', 1_514, false],
  ])('%s', async (_what, slot, isGone) => {
    const node = await startNode(SLOTS, (call, truth) => final(slot)(call, truth) ?? jumped(call, truth))
    const client = clientOf(node)
    for (let turn = 0; turn < 4; turn += 1) {
      const failed = { name: 'BlockUnreadable', isGone, block: { height: 15 } }
      await expect(client.scan(15, 15, watches)).rejects.toMatchObject(failed)
    }
  })
})

describe('a node that lies', () => {
  // Guarantee: a doubtful answer stops the scan, so the cursor cannot pass money by and nothing false is credited.
  it.each<[string, FakeNode['lie']]>([
    ['lists slots that were not asked for', on('getBlocks', { result: [10, 11, 15, 17, 18, 19] })],
    ['lists slots out of order', on('getBlocks', { result: [11, 10, 15, 17, 18] })],
    ['lists a slot twice', on('getBlocks', { result: [10, 10, 11, 15, 17, 18] })],
    ['lists no numbers', on('getBlocks', { result: null })],
    ['has no block that it lists', onSlot(10, () => ({ blockhash: null }))],
    ['links its blocks wrongly', onSlot(15, () => ({ previousBlockhash: bytes(77) }))],
    ['gives a block a later parent', onSlot(10, () => ({ parentSlot: 10 }))],
    ['gives no transactions', onSlot(11, () => ({ transactions: undefined }))],
    [
      'gives a transaction without balances',
      onSlot(11, ({ transactions }) => ({ transactions: transactions.map((entry) => ({ ...entry, meta: null })) })),
    ],
    [
      'gives a transaction twice',
      onSlot(11, ({ transactions }) => ({ transactions: [...transactions, ...transactions] })),
    ],
    [
      'has no time',
      (call, honest) =>
        call.method === 'getBlockTime' ? { result: null } : onSlot(11, () => ({ blockTime: null }))(call, honest),
    ],
    ['is unhealthy', on('getBlock', failure(-32_005))],
    ['does not know the method', on('getBlocks', failure(-32_601))],
  ])('%s: the scan throws', async (_what, lie) => {
    await expect(clientOf(await startNode(SLOTS, lie)).scan(10, 18, watches)).rejects.toEqual(unreliable)
  })

  // Guarantee: a block that is not listed, or listed late, is read all the same, and nothing above it before it.
  it.each<[string, FakeNode['lie']]>([
    ['leaves a block out', listing([10, 11, 17, 18])],
    ['leaves the first block out', listing([11, 15, 17, 18])],
    ['is one block behind', listing([10, 11, 15, 17])],
    ['is empty', listing([])],
  ])('whose list of slots %s is read to its head', async (_what, lie) => {
    const honest = await clientOf(await startNode(SLOTS)).scan(10, 18, watches)
    expect(await readAll(clientOf(await startNode(SLOTS, lie)), 10, 18)).toEqual(honest)
  })

  // Guarantee: the one block that a node does not have is named, with the words of the node.
  it('about one block that it lists, or leaves out, names that block', async () => {
    for (const list of [SLOTS, [10, 17, 18]]) {
      const missing = words(-32_007, 'Slot 15 was skipped, or missing due to ledger jump to recent snapshot')
      const node = await startNode(SLOTS, (call, truth) =>
        call.method === 'getBlock' && call.params[0] === 15 ? missing : listing(list)(call, truth),
      )
      const client = clientOf(node)
      for (const _try of [1, 2, 3]) {
        await expect(client.scan(15, 18, watches)).rejects.toMatchObject({
          name: 'BlockUnreadable',
          block: { height: 15, method: 'getBlock', reason: expect.stringContaining('ledger jump') },
        })
      }
      node.lie = () => null
      expect((await readAll(client, 15, 18)).map(({ height }) => height)).toEqual([15, 17, 18])
    }
  })

  // Guarantee: a block that no node gives whole holds up nothing behind it.
  it('about one whole block is asked for its transactions one by one', async () => {
    const honest = await clientOf(await startNode(SLOTS)).scan(10, 18, watches)
    const node = await startNode(SLOTS, ({ method, params: [slot, options] }) => {
      const isWhole =
        method === 'getBlock' && (options as { transactionDetails: string }).transactionDetails === 'accounts'
      return isWhole && slot === 11 ? failure(-32_005) : null
    })
    expect(await readAll(clientOf(node), 10, 18)).toEqual(honest)
    expect(honest.some(({ transfers }) => transfers.length > 0)).toBe(true)
  })

  it('about a transaction of such a block is named', async () => {
    const node = await startNode(SLOTS, ({ method, params: [slot] }) => {
      if (method === 'getTransaction') return { result: null }
      return method === 'getBlock' && slot === 11 ? failure(-32_015) : null
    })
    const client = clientOf(node)
    for (const _try of [1, 2]) {
      await expect(client.scan(11, 18, watches)).rejects.toMatchObject({
        name: 'BlockUnreadable',
        block: { height: 11, method: 'getBlock' },
      })
    }
  })

  it('about its finality does not lift it above the head', async () => {
    const ahead: FakeNode['lie'] = ({ method, params: [first] }) =>
      method === 'getSlot' ? { result: (first as { commitment: string }).commitment === 'finalized' ? 18 : 17 } : null
    expect(await clientOf(await startNode(SLOTS, ahead)).head()).toMatchObject({ height: 17, finalizedHeight: 17 })
  })

  it('about its head is refused', async () => {
    await expect(clientOf(await startNode(SLOTS, on('getSlot', { result: '17' }))).head()).rejects.toEqual(unreliable)
  })

  // Guarantee: operators read why a provider refuses, in its own words, wherever it does.
  it.each([
    ['getSlot', -32_429, 'max usage reached'],
    ['getBlock', -32_001, 'Block 10 cleaned up, does not exist on node. First available block: 99'],
    ['getBlocks', -32_602, 'Slot range too large for your plan'],
    ['getBlock', -32_007, '50/second request limit reached'],
    ['getBlock', -32_004, 'Block not available for slot 10'],
  ])('%s with error %i is shown with its words', async (method, code, said) => {
    const client = clientOf(await startNode(SLOTS, on(method, words(code, said))))
    const failing = method === 'getSlot' ? client.head() : client.scan(10, 18, watches)
    await expect(failing).rejects.toThrow(said)
  })

  it.each([
    [-32_015, /newer than this release/],
    [-32_001, /more history/],
    [-32_011, /keeps no transaction history/],
  ])('error %i is explained to whoever runs the installation', async (code, words) => {
    const client = clientOf(await startNode(SLOTS, on('getBlock', failure(code))))
    await expect(client.scan(10, 18, watches)).rejects.toMatchObject({
      name: 'BlockUnreadable',
      block: { height: 10, method: 'getBlock' },
      message: expect.stringMatching(words),
    })
  })
})

describe('a node on another chain', () => {
  // Guarantee: money on another chain is never taken for money on ours.
  it('is refused in both modes', async () => {
    const node = await startNode(SLOTS)
    await expect(clientOf(node, 'live').head()).rejects.toEqual(mismatch)
    node.genesis = MAINNET
    await clientOf(node, 'live').verify()
    await expect(clientOf(node, 'test').verify()).rejects.toEqual(mismatch)
  })

  it('cannot pass for a development node unless the settings say that any will do', async () => {
    const node = await startNode(
      SLOTS,
      on('getVersion', { result: { 'solana-core': '4.1.2', 'surfnet-version': '1.5.0' } }),
    )
    node.genesis = bytes(99)
    await expect(clientOf(node, 'live').verify()).rejects.toEqual(mismatch)
    await expect(clientOf(node, 'test').verify()).rejects.toEqual(mismatch)
    await clientOf(node, 'test', 'any').verify()
  })

  it('is accepted when the settings name its first block, and its links are still checked', async () => {
    const node = await startNode(
      SLOTS,
      onSlot(15, () => ({ previousBlockhash: bytes(77) })),
    )
    node.genesis = bytes(99)
    const client = clientOf(node, 'test', bytes(99))
    expect(await client.genesisHash()).toBe(bytes(99))
    await expect(client.scan(10, 18, watches)).rejects.toEqual(unreliable)
    await expect(clientOf(node, 'test', 'any').scan(10, 18, watches)).rejects.toEqual(unreliable)
  })

  it.each<[string, object | null]>([
    ['is missing', null],
    ['has other decimals', mint(9)],
    ['belongs to Token-2022', mint(6, { owner: 'TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb' })],
    ['is an account of another kind', mint(6, { length: 165 })],
  ])('is refused when a mint %s', async (_what, value) => {
    const node = await startNode(SLOTS, on('getAccountInfo', { result: { context: {}, value } }))
    const genesis = await clientOf(node, 'test', 'any').genesisHash()
    await expect(clientOf(node, 'live', genesis).verify()).rejects.toEqual(mismatch)
  })

  it('goes on without a mint that a test network lacks', async () => {
    const node = await startNode(SLOTS, on('getAccountInfo', { result: { context: {}, value: null } }))
    expect(await clientOf(node).verify()).toEqual(['usdc_solana'])
  })
})
