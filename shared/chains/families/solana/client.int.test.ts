import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { base58 } from '@scure/base'
import { afterEach, describe, expect, it } from 'vitest'
import { ASSETS } from '#shared/chains/assets.ts'
import { CHAINS } from '#shared/chains/registry.ts'
import type { Mode } from '#shared/domain/enumerations.ts'
import type { Metrics } from '#shared/usecases/ports/runtime.ts'
import { createWatchIndex } from '../../watch-index.ts'
import { createSolanaClient, type SolanaClient } from './client.ts'
import { matchKeyOf, TOKEN_PROGRAM } from './extract.ts'

const silent: Metrics = { count: () => {}, gauge: () => {}, observe: () => {} }
const MAINNET = '5eykt4UsFv8P8NJdTREpY1vzqKqZKvdpKuc147dw2N9d'
const DEVNET = 'EtWTRABZaYq6iMfeYKouRu166VU2xqa1wcaWoxPkrZBG'
const USDC = ASSETS.usdc_solana.contract
const TIME = 1_800_000_000

const bytes = (fill: number, length = 32) => base58.encode(new Uint8Array(length).fill(fill))
const PAYER = bytes(1)
const OURS = bytes(2)
const watches = createWatchIndex()
watches.add(matchKeyOf(OURS))

/** A chain with blocks at these slots only; each block pays us its own slot in lamports, in a transaction of version 1. */
function chainOf(slots: readonly number[], branch = 0) {
  const hash = (slot: number) => base58.encode(Uint8Array.of(...new Uint8Array(30).fill(100 + branch), slot >> 8, slot))
  return slots.map((slot, index) => ({
    slot,
    blockhash: hash(slot),
    parentSlot: slots[index - 1] ?? 0,
    previousBlockhash: hash(slots[index - 1] ?? 0),
    blockTime: (TIME + slot) as number | null,
    transactions: [
      {
        version: 1,
        transaction: {
          signatures: [bytes(slot, 64)],
          accountKeys: [
            { pubkey: PAYER, signer: true, writable: true, source: 'transaction' },
            { pubkey: OURS, signer: false, writable: true, source: 'transaction' },
          ],
        },
        meta: {
          err: null,
          fee: 5_000,
          preBalances: [9_000_000, 0],
          postBalances: [9_000_000 - 5_000 - slot, slot],
          preTokenBalances: [],
          postTokenBalances: [],
        },
      },
    ],
  }))
}
type FakeBlock = ReturnType<typeof chainOf>[number]

interface Call {
  readonly method: string
  readonly params: readonly [never, never]
}
type Answer = { readonly result: unknown } | { readonly error: { readonly code: number; readonly message: string } }

const failure = (code: number): Answer => ({ error: { code, message: `code ${code}` } })

interface FakeNode {
  blocks: readonly FakeBlock[]
  genesis: string
  /** Answers a call in place of the truth; null leaves it. */
  lie(call: Call, truth: Answer): Answer | null
  readonly url: string
  readonly asked: Call[]
}

const opened: { close(): unknown }[] = []
afterEach(async () => {
  for (const resource of opened.splice(0)) await resource.close()
})

function truth({ blocks, genesis }: FakeNode, { method, params: [first, second] }: Call): Answer {
  const slots = blocks.map(({ slot }) => slot)
  const head = slots.at(-1) ?? 0
  switch (method) {
    case 'getGenesisHash':
      return { result: genesis }
    case 'getVersion':
      return { result: { 'solana-core': '4.2.0', 'feature-set': 1 } }
    case 'getSlot':
      return { result: (first as { commitment: string }).commitment === 'finalized' ? Math.max(0, head - 32) : head }
    case 'getBlocks':
      return { result: slots.filter((slot) => slot >= first && slot <= second) }
    case 'getBlocksWithLimit':
      return { result: slots.filter((slot) => slot >= first).slice(0, second) }
    case 'getBlockTime':
      return { result: TIME + first }
    case 'getSignatureStatuses':
      return { result: { context: { slot: head }, value: (first as string[]).map((id) => statusOf(blocks, id)) } }
    case 'getAccountInfo':
      return { result: { context: { slot: head }, value: mint(6) } }
    case 'getBlock': {
      const block = blocks.find(({ slot }) => slot === first)
      if (block === undefined) return failure(first > head ? -32_004 : -32_007)
      const { slot: _slot, transactions, ...header } = block
      const options = second as { transactionDetails: string; maxSupportedTransactionVersion: number }
      if (options.maxSupportedTransactionVersion !== 1) return failure(-32_015)
      return { result: options.transactionDetails === 'none' ? header : { ...header, transactions } }
    }
    default:
      return failure(-32_601)
  }
}

function statusOf(blocks: readonly FakeBlock[], id: string) {
  const block = blocks.find(({ transactions }) => transactions[0]?.transaction.signatures[0] === id)
  const confirmationStatus = (block?.slot ?? 0) <= (blocks.at(-1)?.slot ?? 0) - 32 ? 'finalized' : 'confirmed'
  return block === undefined ? null : { slot: block.slot, err: null, confirmationStatus }
}

function mint(decimals: number, change: { owner?: string; length?: number } = {}) {
  const data = Buffer.alloc(change.length ?? 82)
  data[44] = decimals
  data[45] = 1
  return { owner: change.owner ?? TOKEN_PROGRAM, data: [data.toString('base64'), 'base64'] }
}

async function startNode(slots: readonly number[], lie: FakeNode['lie'] = () => null): Promise<FakeNode> {
  const server: Server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const call = JSON.parse(Buffer.concat(chunks).toString()) as Call
      node.asked.push(call)
      const honest = truth(node, call)
      response.end(JSON.stringify({ jsonrpc: '2.0', id: 1, ...(node.lie(call, honest) ?? honest) }))
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  opened.push(server)
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const node: FakeNode = { blocks: chainOf(slots), genesis: DEVNET, lie, url, asked: [] }
  return node
}

function clientOf(node: FakeNode, mode: Mode = 'test', genesis: string | null = null, others: string[] = []) {
  const client = createSolanaClient({
    chain: CHAINS.solana,
    mode,
    rpcUrls: [node.url, ...others],
    genesis,
    nativeAsset: 'sol_solana',
    tokens: [{ asset: 'usdc_solana', contract: USDC, decimals: 6 }],
    metrics: silent,
  })
  // Before its server, which waits for the connections.
  opened.unshift(client)
  return client
}

const unreliable = expect.objectContaining({ name: 'NodeUnreliable' })
const mismatch = expect.objectContaining({ name: 'NodeMismatch' })
const found = async (client: SolanaClient, from: number, to: number) =>
  (await client.scan(from, to, watches)).map(({ height, transfers }) => [height, ...transfers.map((t) => t.amountBase)])

/** Slots 12 to 14 and 16 were skipped. */
const SLOTS = [10, 11, 15, 17, 18]

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
    await expect(client.scan(16, 18, watches)).rejects.toEqual(unreliable)
    await expect(client.head()).rejects.toEqual(unreliable)
    node.lie = () => null
    const head = await client.head()
    expect(head.height).toBe(18)
    node.blocks = chainOf([...SLOTS, 19])
    node.lie = ({ method, params: [slot] }) => (method === 'getBlock' && slot === 19 ? failure(-32_014) : null)
    expect(await client.head()).toEqual(head)
    for (let look = 1; look < 20; look += 1) await client.head()
    await expect(client.head()).rejects.toEqual(unreliable)
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

type Change = (block: FakeBlock) => object
const onSlot =
  (slot: number, change: Change): FakeNode['lie'] =>
  ({ method, params: [asked] }, honest) => {
    if (method !== 'getBlock' || asked !== slot || !('result' in honest)) return null
    return { result: { ...(honest.result as object), ...change(honest.result as FakeBlock) } }
  }
const on =
  (method: string, answer: Answer): FakeNode['lie'] =>
  (call) =>
    call.method === method ? answer : null

describe('a node that lies', () => {
  // Guarantee: a doubtful answer stops the scan, so the cursor cannot pass money by and nothing false is credited.
  it.each<[string, FakeNode['lie']]>([
    ['leaves a block out of its list', on('getBlocks', { result: [10, 11, 17, 18] })],
    ['leaves the first block out of its list', on('getBlocks', { result: [11, 15, 17, 18] })],
    ['lists slots that were not asked for', on('getBlocks', { result: [10, 11, 15, 17, 18, 19] })],
    ['lists slots out of order', on('getBlocks', { result: [11, 10, 15, 17, 18] })],
    ['lists a slot twice', on('getBlocks', { result: [10, 10, 11, 15, 17, 18] })],
    ['lists nothing although its head is above', ({ method }) => (/getBlocks/.test(method) ? { result: [] } : null)],
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

  it('about its head is refused', async () => {
    const ahead: FakeNode['lie'] = ({ method, params: [first] }) =>
      method === 'getSlot' ? { result: (first as { commitment: string }).commitment === 'finalized' ? 18 : 17 } : null
    await expect(clientOf(await startNode(SLOTS, ahead)).head()).rejects.toEqual(unreliable)
    await expect(clientOf(await startNode(SLOTS, on('getSlot', { result: '17' }))).head()).rejects.toEqual(unreliable)
  })

  it.each([
    [-32_015, /newer than this release/],
    [-32_001, /more history/],
    [-32_011, /keeps no transaction history/],
  ])('error %i is explained to whoever runs the installation', async (code, words) => {
    const client = clientOf(await startNode(SLOTS, on('getBlock', failure(code))))
    await expect(client.scan(10, 18, watches)).rejects.toMatchObject({
      name: 'NodeUnreliable',
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
    await expect(clientOf(node).verify()).rejects.toEqual(mismatch)
  })
})

describe('a second node', () => {
  const LATER = [...SLOTS, 60]

  async function askSecond(second: FakeNode, slot: number) {
    const client = clientOf(await startNode(LATER), 'test', null, [second.url])
    const [block] = await client.scan(slot, slot, watches)
    const txHash = block?.transfers[0]?.txHash ?? ''
    const doubted = await client.doubted?.([{ txHash, height: slot, blockHash: block?.hash ?? '' }])
    return doubted?.has(txHash)
  }

  it('vouches for what it shows as finalized and successful in the same block', async () => {
    expect(await askSecond(await startNode(LATER), 15)).toBe(false)
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
    ['has another block there', 15, onSlot(15, () => ({ blockhash: bytes(66) }))],
    [
      'has no block there',
      15,
      ({ method, params: [slot] }) => (method === 'getBlock' && slot === 15 ? failure(-32_007) : null),
    ],
  ])('doubts what it %s', async (_what, slot, lie) => {
    expect(await askSecond(await startNode(LATER, lie), slot)).toBe(true)
  })

  it('that does not answer stops the confirmation; without one nobody is asked', async () => {
    const silent = await startNode(LATER, on('getSignatureStatuses', failure(-32_005)))
    await expect(askSecond(silent, 15)).rejects.toEqual(unreliable)
    expect(clientOf(await startNode(LATER)).doubted).toBeUndefined()
  })

  it('takes over when the first one lies', async () => {
    const liar = await startNode(LATER, on('getBlocks', { result: [10, 11, 17, 18] }))
    const client = clientOf(liar, 'test', null, [(await startNode(LATER)).url])
    expect(await found(client, 15, 15)).toEqual([[15, 15n]])
    expect((await found(client, 10, 18)).length).toBe(SLOTS.length)
  })
})
