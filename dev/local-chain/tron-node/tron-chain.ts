import { createHash } from 'node:crypto'
import { z } from 'zod'
import { encodeMessage } from '#shared/chains/families/tron/protobuf.ts'
import { infoJson, type TronTransaction, transactionId, transactionJson, tronTransaction } from './transaction.ts'

const storedBlock = z
  .object({
    /** Milliseconds. */
    time: z.int(),
    /** Distinguishes the blocks of one branch from those of another at the same height. */
    branch: z.int(),
    transactions: z.array(tronTransaction).readonly(),
  })
  .readonly()

/** A block as stored; number, parent and id follow from its position. */
type StoredBlock = z.output<typeof storedBlock>

/** Everything that a restart needs. */
export const chainState = z
  .object({
    /** Different for each chain, so that each has another block 0. Milliseconds. */
    createdAt: z.int(),
    blocks: z.array(storedBlock).readonly(),
    pending: z.array(tronTransaction).readonly(),
    branch: z.int(),
    solidHeight: z.int(),
  })
  .readonly()

/** Everything that a restart needs. */
export type ChainState = z.output<typeof chainState>

/** A block with everything that follows from its position. */
export interface ChainBlock extends StoredBlock {
  readonly number: number
  readonly id: string
  readonly parentHash: string
}

const BLOCK_VERSION = 34
/** The first transfer of block 0 comes from a text that is not an account, as on the main network. */
const GENESIS_OWNER = Buffer.from('0x000000000000000000000', 'ascii').toString('hex')
const GENESIS_AMOUNT = '99000000000000000'

/** A chain of blocks with its pending transactions; pure except for its inputs. */
export type TronChain = ReturnType<typeof createTronChain>

/** Continues a stored chain, or begins one with only block 0. `solidLag`: blocks required above a block to make it solid. */
export function createTronChain(kept: ChainState | { readonly createdAt: number }, solidLag: number) {
  const { createdAt } = kept
  const blocks: ChainBlock[] = [genesis(createdAt)]
  let pending: TronTransaction[] = []
  let branch = 0
  let solidHeight = 0
  if ('blocks' in kept) {
    for (const block of kept.blocks) append(block)
    pending = [...kept.pending]
    branch = kept.branch
    solidHeight = kept.solidHeight
  }

  function head(): ChainBlock {
    return blocks.at(-1) ?? genesis(createdAt)
  }
  function append(block: StoredBlock): void {
    const parent = head()
    blocks.push(sealed({ ...block, number: parent.number + 1, parentHash: parent.id }))
    solidHeight = Math.max(solidHeight, parent.number + 1 - solidLag)
  }

  return {
    head,
    solid: () => blocks[solidHeight] ?? genesis(createdAt),
    at: (height: number) => blocks[height],
    /** A mined transaction and its block. */
    find(id: string) {
      for (const block of blocks) {
        const transaction = block.transactions.find((entry) => transactionId(entry) === id)
        if (transaction !== undefined) return { transaction, block }
      }
      return undefined
    },
    byId: (id: string) => blocks.find((block) => block.id === id),
    pending: (): readonly TronTransaction[] => pending,
    submit(transaction: TronTransaction): void {
      pending.push(transaction)
    },
    /** Mines all pending transactions into one block. */
    mine(time: number): void {
      append({ time: Math.max(time, head().time + 1), branch, transactions: pending })
      pending = []
    },
    /**
     * Replaces the last `depth` blocks by as many others. Their transactions are dropped permanently, except those given
     * with the offset of the new block that must contain them. Throws when a solid block would be removed.
     */
    reorg(depth: number, kept: readonly (readonly [TronTransaction, number])[]): void {
      const fork = head().number - depth
      if (depth < 1 || fork < solidHeight) throw new Error('a solid block never rolls back')
      const times = blocks.slice(fork + 1).map(({ time }) => time)
      blocks.splice(fork + 1)
      branch += 1
      for (const [offset, time] of times.entries()) {
        append({ time, branch, transactions: kept.flatMap(([entry, at]) => (at === offset ? entry : [])) })
      }
    },
    state: (): ChainState => ({
      createdAt,
      blocks: blocks.slice(1).map(({ time, branch, transactions }) => ({ time, branch, transactions })),
      pending,
      branch,
      solidHeight,
    }),
  }
}

/** A block as returned by `getblockbynum`. */
export function blockJson(block: ChainBlock): Readonly<Record<string, unknown>> {
  const { number, time, parentHash } = block
  const transactions =
    number === 0 ? [genesisTransaction()] : block.transactions.map((entry) => transactionJson(entry, true))
  return {
    blockID: block.id,
    block_header: {
      raw_data: {
        // Zeros are omitted.
        ...(number === 0 ? {} : { number, timestamp: time, version: BLOCK_VERSION }),
        txTrieRoot: transactionsRoot(block.transactions),
        witness_address: witness(block.branch),
        parentHash,
      },
      ...(number === 0 ? {} : { witness_signature: '0'.repeat(130) }),
    },
    ...(transactions.length === 0 ? {} : { transactions }),
  }
}

/** The infos of a block's transactions; block 0 has none, which has a special form. */
export function infosJson(block: ChainBlock | undefined): unknown {
  if (block?.number === 0) return {}
  return block?.transactions.map((entry) => infoJson(entry, block)) ?? []
}

function genesis(createdAt: number): ChainBlock {
  const parentHash = sha256(Buffer.from(`paymesh ${createdAt}`)).toString('hex')
  return sealed({ time: 0, branch: 0, transactions: [], number: 0, parentHash })
}

/** Block id: the height in eight bytes, then the hash of the header without its first eight bytes (java-tron, BlockCapsule). */
function sealed(block: Omit<ChainBlock, 'id'>): ChainBlock {
  const header = encodeMessage([
    [1, BigInt(block.time)],
    [2, Buffer.from(transactionsRoot(block.transactions), 'hex')],
    [3, Buffer.from(block.parentHash, 'hex')],
    [7, BigInt(block.number)],
    [9, Buffer.from(witness(block.branch), 'hex')],
    [10, BigInt(block.number === 0 ? 0 : BLOCK_VERSION)],
  ])
  const height = block.number.toString(16).padStart(16, '0')
  return { ...block, id: `${height}${sha256(header).toString('hex').slice(16)}` }
}

/** Replaces the Merkle root: another list gives another root. Zeros for none, as on the main network. */
function transactionsRoot(transactions: readonly TronTransaction[]): string {
  if (transactions.length === 0) return '0'.repeat(64)
  return sha256(Buffer.from(transactions.map(transactionId).join(''), 'hex')).toString('hex')
}

function witness(branch: number): string {
  return `41${(branch + 1).toString(16).padStart(40, '0')}`
}

function genesisTransaction(): Readonly<Record<string, unknown>> {
  const body = { kind: 'transfer', owner: GENESIS_OWNER, to: witness(0), amount: GENESIS_AMOUNT } as const
  const outcome = { result: 'SUCCESS', logs: [], internals: [] } as const
  return transactionJson({ body, outcome, timestamp: 0, refBlockBytes: '', refBlockHash: '' }, false)
}

function sha256(data: Uint8Array): Buffer {
  return createHash('sha256').update(data).digest()
}
