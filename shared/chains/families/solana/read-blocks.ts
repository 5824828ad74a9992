import type { BlockRef } from '#shared/ports/scanned-blocks.ts'
import { BlockUnreadable, NodeUnreliable } from '#shared/ports/scanning.ts'
import { inBlock } from '../../nodes/in-block.ts'
import { mapConcurrently } from '../../nodes/map-concurrently.ts'
import { nullWhere } from '../../nodes/null-where.ts'
import { createPartReader } from '../../nodes/read-parts.ts'
import { isDenied } from '../../nodes/rpc-failure.ts'
import { TRANSACTION_OPTIONS } from './disputed.ts'
import {
  BlockMissing,
  type Caller,
  firstSlotFrom,
  getBlock,
  listSlots,
  namedBlock,
  newestSlot,
  orNull,
} from './get-block.ts'
import type { NodeIdentity } from './identity.ts'
import { type BlockPosition, newestBlock } from './newest-block.ts'
import {
  blockSchema,
  blockTimeSchema,
  type Header,
  headerSchema,
  placedTransactionSchema,
  signedBlockSchema,
  type Transaction,
} from './wire.ts'

/** Blocks fetched at the same time; a full one is several megabytes. */
const PREFETCH = 4
/** Transactions fetched at the same time when a block is read one by one. */
const ALONE = 8
/** Blocks that are not listed which one reading follows back by their parents. */
const UNLISTED_MAX = 64
/** Slots searched for the preceding block on a node that skips none. */
const PREDECESSOR_RANGE = 64
/** Seconds. Mainnet began on 16 March 2020: an earlier time is in another unit. */
const FIRST_BLOCK_TIME = 1_584_282_000

/** A block with the caller's result for its transactions. */
export interface ReadBlock<T> {
  readonly ref: BlockRef
  readonly content: T
}

interface LinkedSlot {
  readonly slot: number
  readonly header: Header
}

const readTransactions = createPartReader<Transaction>(ALONE)

/** Reads confirmed blocks of one network by slot. Every method throws `NodeUnreliable` on contradictory responses. */
export interface BlockReader {
  /** The newest slot at a commitment. */
  slot(commitment: 'confirmed' | 'finalized'): Promise<number>
  /** The newest block that the node has; see `newestBlock`. */
  newest(known: BlockPosition | null): Promise<BlockPosition>
  /** Hash of the block of a slot, or of the first one after a slot that this one shows to be skipped; null when the node shows neither. */
  hashAt(slot: number): Promise<string | null>
  /** The block of a slot, null only when the chain has none: a later block names an earlier parent. */
  at(slot: number): Promise<BlockRef | null>
  /**
   * The blocks from `from` to `to`, linked; if there is none, the first one after them. Ends earlier where the node
   * does not have a block yet, or does not list it, but is never empty: throws `BlockUnreadable` for a block that it does not give. `take` reduces each block's transactions as soon as they arrive.
   */
  read<T>(from: number, to: number, take: (transactions: readonly Transaction[]) => T): Promise<readonly ReadBlock<T>[]>
  /** The block of a slot by its signatures and each of its transactions; no slot from `from` up to it has a block. */
  readAlone<T>(slot: number, from: number, take: (transactions: readonly Transaction[]) => T): Promise<ReadBlock<T>>
}

/** `identity` returns the chain of the node in use; it is called after each call, so it is known. */
export function createBlockReader(rpc: Caller, identity: () => NodeIdentity): BlockReader {
  async function refOf(slot: number, header: Header): Promise<BlockRef> {
    const time = await timeOf(rpc, slot, header)
    if (identity().simulated) {
      const before = slot === 0 ? [] : await listSlots(rpc, Math.max(1, slot - PREDECESSOR_RANGE), slot - 1)
      return {
        height: slot,
        hash: hashIn(identity(), slot, ''),
        parentHash: hashIn(identity(), before.at(-1) ?? 0, ''),
        time,
      }
    }
    if (header.parentSlot >= slot)
      throw new NodeUnreliable(`the node's block ${slot} has a parent that is not before it`)
    return { height: slot, hash: header.blockhash, parentHash: header.previousBlockhash, time }
  }

  const hashOf = (slot: number, { blockhash }: Header) => hashIn(identity(), slot, blockhash)

  return {
    slot: (commitment) => newestSlot(rpc, commitment),
    newest: (known) => newestBlock({ rpc, hashOf }, known),
    async hashAt(slot) {
      const found = await orNull(getBlock(rpc, slot, 'none', headerSchema))
      if (found !== null) return hashOf(slot, found)
      const next = await blockAfter(rpc, slot)
      return next === null || next.header.parentSlot >= slot ? null : hashOf(next.slot, next.header)
    },
    async at(slot) {
      const found = await orNull(getBlock(rpc, slot, 'none', headerSchema))
      if (found !== null) return refOf(slot, found)
      // A lagging or incomplete node gives the same response as for a skipped slot: the next block decides.
      const next = await blockAfter(rpc, slot)
      if (next === null || (next.header.parentSlot >= slot && !identity().simulated)) {
        throw new NodeUnreliable(
          `the node does not have the block of slot ${slot}, and does not show that it was skipped`,
        )
      }
      return null
    },
    async read(from, to, take) {
      const readOne = (slot: number) =>
        inBlock({ height: slot, hash: null }, 'getBlock', async () => {
          const { transactions, ...header } = await getBlock(rpc, slot, 'accounts', blockSchema)
          return { slot, header, content: take(transactions), ref: await refOf(slot, header) }
        })
      const listed = await listSlots(rpc, from, to)
      // A list may be behind the blocks: the last block of the range shows then which ones are not listed.
      const slots = listed.length === 0 ? [(await firstSlotFrom(rpc, to + 1)) ?? to] : listed
      const read = beforeMissing(await mapConcurrently(slots, PREFETCH, (slot) => missingInBlock(readOne(slot))))
      const [first] = read
      const linked = identity().simulated || first === undefined ? read : linkedFrom(from, read)
      const blocks = linked.length > 0 ? linked : [await readOne(await lowestUnlisted(rpc, from, first?.header))]
      return blocks.map(({ ref, content }) => ({ ref, content }))
    },
    readAlone: (slot, from, take) =>
      inBlock({ height: slot, hash: null }, 'getBlock', async () => {
        const { signatures, ...header } = await namedBlock(
          rpc,
          slot,
          getBlock(rpc, slot, 'signatures', signedBlockSchema),
        )
        if (!identity().simulated && header.parentSlot >= from)
          throw new NodeUnreliable(`the node has a block in slot ${header.parentSlot} before it`)
        const parts = { hash: header.blockhash, ids: signatures }
        const contents = await readTransactions(rpc, parts, (id) => getTransaction(rpc, slot, id))
        return { content: take(contents), ref: await refOf(slot, header) }
      }),
  }
}

/** Hashes derived from the slot, where the node's own are unusable. */
function hashIn({ simulated, genesisHash }: NodeIdentity, slot: number, blockhash: string): string {
  if (!simulated) return blockhash
  return slot === 0 ? genesisHash : `${genesisHash}:${slot}`
}

/** The first block after a slot that the node lists; null when it lists none, or does not have it. */
async function blockAfter(rpc: Caller, after: number): Promise<LinkedSlot | null> {
  const slot = await firstSlotFrom(rpc, after + 1)
  const header = slot === undefined ? null : await orNull(getBlock(rpc, slot, 'none', headerSchema))
  return slot === undefined || header === null ? null : { slot, header }
}

/** Milliseconds. Throws `NodeUnreliable` when the node returns none. */
async function timeOf(rpc: Caller, slot: number, { blockTime }: Header): Promise<number> {
  if (blockTime !== null && blockTime >= FIRST_BLOCK_TIME) return blockTime * 1_000
  const seconds = await nullWhere(rpc.call('getBlockTime', [slot], blockTimeSchema), isDenied)
  if (seconds === null || seconds < FIRST_BLOCK_TIME) {
    throw new NodeUnreliable(`the node gives no usable time of slot ${slot}`)
  }
  return seconds * 1_000
}

async function getTransaction(rpc: Caller, slot: number, id: string): Promise<Transaction> {
  const found = await rpc.call('getTransaction', [id, TRANSACTION_OPTIONS], placedTransactionSchema.nullable())
  if (found?.slot !== slot || found.entry.transaction.signatures[0] !== id) {
    throw new NodeUnreliable(`the node does not give transaction ${id} of slot ${slot}`)
  }
  return found.entry
}

/** The first of these blocks as far as each one follows another: a block that is not listed would be missing from there on. */
function linkedFrom<T extends LinkedSlot>(from: number, blocks: readonly T[]): readonly T[] {
  for (const [index, { slot, header }] of blocks.entries()) {
    const before = blocks[index - 1]
    if (header.parentSlot > (before?.slot ?? from - 1)) return blocks.slice(0, index)
    if (before === undefined) continue
    if (header.parentSlot !== before.slot || header.previousBlockhash !== before.header.blockhash) {
      throw new NodeUnreliable(`the node's blocks of slots ${before.slot} and ${slot} are not linked`)
    }
  }
  return blocks
}

/** The lowest block from `from` on, by the parents of a later one. Throws `BlockUnreadable` for the one that the node does not give. */
async function lowestUnlisted(rpc: Caller, from: number, later: Header | undefined): Promise<number> {
  let slot = later?.parentSlot ?? from
  for (let step = 0; step < UNLISTED_MAX; step += 1) {
    const block = { height: slot, hash: null }
    const requestedSlot = slot
    const isNamed = later !== undefined || step > 0
    const header = await inBlock(block, 'getBlock', () => {
      const given = getBlock(rpc, requestedSlot, 'none', headerSchema)
      return isNamed ? namedBlock(rpc, requestedSlot, given) : given
    })
    if (header.parentSlot < from) return slot
    if (header.parentSlot >= slot) break
    slot = header.parentSlot
  }
  throw new NodeUnreliable(`the node lists no block from slot ${from} on, nor leads to one`)
}

/** The failure of a block that the node does not have, returned: the blocks before it can be used. */
async function missingInBlock<T>(block: Promise<T>): Promise<T | BlockUnreadable> {
  try {
    return await block
  } catch (error) {
    if (error instanceof BlockUnreadable && error.cause instanceof BlockMissing) return error
    throw error
  }
}

/** The blocks before the first one that is missing; throws its failure where there are none. */
function beforeMissing<T extends object>(read: readonly (T | BlockUnreadable)[]): readonly T[] {
  const blocks: T[] = []
  for (const block of read) {
    if (block instanceof BlockUnreadable) {
      if (blocks.length === 0) throw block
      break
    }
    blocks.push(block)
  }
  return blocks
}
