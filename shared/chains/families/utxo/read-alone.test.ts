import { Block, Transaction } from 'bitcoinjs-lib'
import { describe, expect, it } from 'vitest'
import { RpcFailure } from '../../nodes/rpc-failure.ts'
import { createWatchIndex } from '../watch-index.ts'
import type { BlockQuestion } from './extract.ts'
import { outpointsByWire } from './outpoint.ts'
import { type LoneNode, readAlone } from './read-alone.ts'

const SCRIPT = `76a914${'44'.repeat(20)}88ac`
const HEIGHT = 7
const watches = createWatchIndex()
watches.add(SCRIPT)
const scope = {
  keyPrefix: 'test:bitcoin',
  asset: 'btc_bitcoin',
  dustBase: 0n,
  rules: { coinbaseMaturity: 100, mweb: false },
  printAddress: (script: string) => script,
} as const
const question = { scope, watches, outpoints: new Map<string, string>() }

/** A payment whose id depends on `salt`. */
function payment(salt: number, amount: bigint, script = SCRIPT): Transaction {
  const made = new Transaction()
  made.addInput(new Uint8Array(32).fill(1), salt)
  made.addOutput(Buffer.from(script, 'hex'), amount)
  return made
}

function sealed(transactions: readonly Transaction[]): Block {
  const made = new Block()
  made.version = 0x2000_0000
  made.timestamp = 1_700_000_000
  made.bits = 0x207f_ffff
  made.nonce = 1
  made.prevHash = new Uint8Array(32).fill(3)
  made.transactions = [...transactions]
  made.merkleRoot = Block.calculateMerkleRoot(made.transactions, false)
  return made
}

interface Parts extends LoneNode {
  /** Ids of the transactions that were requested, and the most at one time. */
  readonly requested: string[]
  most: number
}

/** A node that gives the parts of one block; `change` replaces methods. */
function nodeOf(block: Block, change: Partial<LoneNode> = {}): Parts {
  const byId = new Map(block.transactions?.map((one) => [one.getId(), Buffer.from(one.toBuffer())]))
  let running = 0
  const honest: LoneNode = {
    hashAt: async () => block.getId(),
    headerBytes: async () => Buffer.from(block.toBuffer(true)),
    blockIds: async () => [...byId.keys()],
    minedTransaction: async (id) => byId.get(id) ?? Buffer.alloc(0),
  }
  const ways = { ...honest, ...change }
  const node: Parts = {
    ...ways,
    requested: [],
    most: 0,
    async minedTransaction(id, hash) {
      node.requested.push(id)
      running += 1
      node.most = Math.max(node.most, running)
      try {
        return await ways.minedTransaction(id, hash)
      } finally {
        running -= 1
      }
    },
  }
  return node
}

const three = sealed([payment(0, 5n), payment(1, 11n), payment(2, 13n)])
const idsOf = (block: Block) => block.transactions?.map((one) => one.getId()) ?? []

describe('a block that is read in parts', () => {
  it('gives the transfers that the whole block gives, under the same keys', async () => {
    const [first, second, third] = idsOf(three)
    const wanted = outpointsByWire(new Set([`${'01'.repeat(32)}:2`]))
    const block = await readAlone(nodeOf(three), HEIGHT, { ...question, outpoints: wanted })
    expect(block).toMatchObject({ height: HEIGHT, hash: three.getId(), parentHash: '03'.repeat(32) })
    expect(block.transfers).toMatchObject([
      { key: `test:bitcoin:${first}:0`, amountBase: 5n, minConfirmations: 100 },
      { key: `test:bitcoin:${second}:0`, amountBase: 11n },
      { key: `test:bitcoin:${third}:0`, amountBase: 13n },
    ])
    expect([...(block.spent ?? [])]).toEqual([[`${'01'.repeat(32)}:2`, third]])
  })

  // Guarantee: a block with more transactions than a provider's quota gives at once is read little by little, and the network goes on.
  it('goes on where the attempt before ended, by what its addresses and outpoints are then', async () => {
    const many = sealed(Array.from({ length: 40 }, (_, index) => payment(index, BigInt(index + 1))))
    let left = 0
    const node = nodeOf(many, {
      async minedTransaction(id) {
        left -= 1
        if (left < 0) throw new RpcFailure('rate', 'too many requests', { retryAfterMs: 1_000 })
        return Buffer.from(many.transactions?.find((one) => one.getId() === id)?.toBuffer() ?? [])
      },
    })
    const read = (outpoints: BlockQuestion['outpoints']) => {
      left = 15
      return readAlone(node, HEIGHT, { ...question, outpoints })
    }
    await expect(read(new Map())).rejects.toThrow('too many requests')
    await expect(read(new Map())).rejects.toThrow('too many requests')
    const { transfers, spent } = await read(outpointsByWire(new Set([`${'01'.repeat(32)}:2`])))
    expect(transfers.map(({ txHash }) => txHash)).toEqual(idsOf(many))
    expect([...(spent ?? [])]).toEqual([[`${'01'.repeat(32)}:2`, idsOf(many)[2]]])
    expect(node.requested.length).toBeLessThan(50)
  })

  // Guarantee: memory does not grow with the block beyond its bytes: a few transactions are read at a time, and only what pays us is kept.
  it('of 5,000 transactions requests four at a time and keeps what pays us', async () => {
    const many = sealed(
      Array.from({ length: 5_000 }, (_, index) => payment(index, 1n, index === 4_321 ? SCRIPT : '6a')),
    )
    const node = nodeOf(many)
    const { transfers } = await readAlone(node, HEIGHT, question)
    expect(transfers.map(({ txHash }) => txHash)).toEqual([idsOf(many)[4_321]])
    expect(node.requested).toHaveLength(5_000)
    expect(node.most).toBe(4)
  })
})

const swap = (ids: readonly string[]) => [ids[1] ?? '', ids[0] ?? '', ...ids.slice(2)]
const ids = idsOf(three)
const foreign = payment(9, 1_000n)
/** Bytes whose id stands for a pair of hashes as well: 4 of version, 41 of input, 13 of output, 4 of lock time, 2 counts. */
const pairSized = sealed([payment(0, 5n), payment(1, 5n, '51515151')])

describe('a node that lies about a part', () => {
  // Guarantee: a block is passed only when every transaction in it was read and proven.
  it.each<[string, string, Partial<LoneNode>]>([
    ['lists another id', 'getblock', { blockIds: async () => [foreign.getId(), ...ids.slice(1)] }],
    ['leaves an id out', 'getblock', { blockIds: async () => ids.slice(0, 2) }],
    ['leaves all ids out', 'getblock', { blockIds: async () => [] }],
    ['adds an id', 'getblock', { blockIds: async () => [...ids, foreign.getId()] }],
    ['repeats the last id, which leaves the root', 'getblock', { blockIds: async () => [...ids, ids[2] ?? ''] }],
    ['lists ids in another order', 'getblock', { blockIds: async () => swap(ids) }],
    [
      'gives the header of another block',
      'getblockheader',
      { headerBytes: async () => Buffer.from(pairSized.toBuffer(true)) },
    ],
    [
      'gives half a header',
      'getblockheader',
      { headerBytes: async () => Buffer.from(three.toBuffer(true)).subarray(40) },
    ],
    [
      'gives another transaction',
      'getrawtransaction',
      { minedTransaction: async () => Buffer.from(foreign.toBuffer()) },
    ],
    [
      'gives one transaction for all',
      'getrawtransaction',
      { minedTransaction: async () => Buffer.from(payment(1, 11n).toBuffer()) },
    ],
    ['gives no bytes', 'getrawtransaction', { minedTransaction: async () => Buffer.alloc(0) }],
    ['gives a transaction without inputs', 'getrawtransaction', { minedTransaction: async () => Buffer.alloc(10) }],
    ['has no block there', 'getblockhash', { hashAt: async () => null }],
  ])('and %s is named: %s', async (_what, method, change) => {
    const reading = readAlone(nodeOf(three, change), HEIGHT, question)
    await expect(reading).rejects.toMatchObject({ name: 'BlockUnreadable', block: { height: HEIGHT, method } })
  })

  it('and changes an amount is named with the transaction', async () => {
    const change: Partial<LoneNode> = {
      minedTransaction: async (id) =>
        Buffer.from(payment(ids.indexOf(id), id === ids[1] ? 12n : ([5n, 11n, 13n][ids.indexOf(id)] ?? 0n)).toBuffer()),
    }
    await expect(readAlone(nodeOf(three, change), HEIGHT, question)).rejects.toMatchObject({
      block: { method: 'getrawtransaction', reason: expect.stringContaining(ids[1] ?? '') },
    })
  })

  // Guarantee: nobody hides two transactions behind bytes that are their hashes (CVE-2017-12842).
  it('is not believed a transaction of 64 bytes, which may be two hashes', async () => {
    expect(pairSized.transactions?.[1]?.toBuffer()).toHaveLength(64)
    await expect(readAlone(nodeOf(pairSized), HEIGHT, question)).rejects.toMatchObject({
      block: { height: HEIGHT, reason: expect.stringContaining('64 bytes') },
    })
  })

  it('about one of 5,000 is asked for no more than a few of the others', async () => {
    const many = sealed(Array.from({ length: 5_000 }, (_, index) => payment(index, 1n)))
    const node = nodeOf(many, { minedTransaction: async () => Buffer.from(foreign.toBuffer()) })
    await expect(readAlone(node, HEIGHT, question)).rejects.toMatchObject({ name: 'BlockUnreadable' })
    await new Promise((resolve) => setImmediate(resolve))
    expect(node.requested.length).toBeLessThan(9)
  })
})
