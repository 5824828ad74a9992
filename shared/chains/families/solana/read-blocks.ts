import type { z } from 'zod'
import type { BlockRef } from '#shared/ports/scanned-blocks.ts'
import { NodeUnreliable } from '#shared/ports/scanning.ts'
import { inBlock } from '../../nodes/in-block.ts'
import type { RpcClient } from '../../nodes/json-rpc.ts'
import { mapConcurrently } from '../../nodes/map-concurrently.ts'
import { RpcDenial } from '../../nodes/rpc-failure.ts'
import { TRANSACTION_OPTIONS } from './disputed.ts'
import type { NodeIdentity } from './identity.ts'
import {
  blockSchema,
  blockTimeSchema,
  type Header,
  headerSchema,
  placedTransactionSchema,
  signedBlockSchema,
  slotSchema,
  slotsSchema,
  type Transaction,
} from './wire.ts'

/** Blocks fetched at the same time; a full one is several megabytes. */
const PREFETCH = 4
/** Transactions fetched at the same time when a block is read one by one. */
const ALONE = 8
/** Slots searched for the preceding block on a node that skips none. */
const PREDECESSOR_RANGE = 64
/** Seconds. Mainnet began on 16 March 2020: an earlier time is in another unit. */
const FIRST_BLOCK_TIME = 1_584_282_000

const CONFIRMED = { commitment: 'confirmed' } as const
/** Nodes refuse blocks with transactions of a higher version; version 1 is on mainnet since September 2026. */
const BLOCK_OPTIONS = { ...CONFIRMED, encoding: 'json', rewards: false, maxSupportedTransactionVersion: 1 } as const

type Caller = Pick<RpcClient, 'call'>

/** A block with the caller's result for its transactions. */
export interface ReadBlock<T> {
  readonly ref: BlockRef
  readonly content: T
}

/** Reads confirmed blocks of one network by slot. Every method throws `NodeUnreliable` on contradictory responses. */
export interface BlockReader {
  /** The newest slot at a commitment. */
  slot(commitment: 'confirmed' | 'finalized'): Promise<number>
  /** The node's own hash of the block of a slot, null when it does not have it. */
  hashAt(slot: number): Promise<string | null>
  /** The block of a slot, null when the node does not have it, or not yet. */
  find(slot: number): Promise<BlockRef | null>
  /** The block of a slot, null only when the chain has none: a later block names an earlier parent. */
  at(slot: number): Promise<BlockRef | null>
  /**
   * The blocks from `from` to `to`, linked; if there is none, the first one after them. Ends earlier where the node
   * does not have a block yet, but is never empty. `take` reduces each block's transactions as soon as they arrive.
   */
  read<T>(from: number, to: number, take: (transactions: readonly Transaction[]) => T): Promise<readonly ReadBlock<T>[]>
  /** The block of a slot by its signatures and each of its transactions; no slot from `from` up to it has a block. */
  readAlone<T>(slot: number, from: number, take: (transactions: readonly Transaction[]) => T): Promise<ReadBlock<T>>
}

/** `identity` returns the chain of the node in use; it is called after each call, so it is known. */
export function createBlockReader(rpc: Caller, identity: () => NodeIdentity): BlockReader {
  async function getBlock<T>(
    slot: number,
    details: 'accounts' | 'signatures' | 'none',
    schema: z.ZodType<T>,
  ): Promise<T | null> {
    return absentAsNull(
      rpc.call('getBlock', [slot, { ...BLOCK_OPTIONS, transactionDetails: details }], schema.nullable()),
    )
  }

  /** Hashes derived from the slot, where the node's own are unusable. */
  function simulatedHash(slot: number): string {
    const { genesisHash } = identity()
    return slot === 0 ? genesisHash : `${genesisHash}:${slot}`
  }

  async function refOf(slot: number, header: Header): Promise<BlockRef> {
    const time = await timeOf(rpc, slot, header)
    if (identity().simulated) {
      const before = slot === 0 ? [] : await list(rpc, Math.max(1, slot - PREDECESSOR_RANGE), slot - 1)
      return { height: slot, hash: simulatedHash(slot), parentHash: simulatedHash(before.at(-1) ?? 0), time }
    }
    if (header.parentSlot >= slot)
      throw new NodeUnreliable(`the node's block ${slot} has a parent that is not before it`)
    return { height: slot, hash: header.blockhash, parentHash: header.previousBlockhash, time }
  }

  async function find(slot: number): Promise<BlockRef | null> {
    const header = await getBlock(slot, 'none', headerSchema)
    return header === null ? null : refOf(slot, header)
  }

  return {
    slot: (commitment) => rpc.call('getSlot', [{ commitment }], slotSchema),
    hashAt: async (slot) => (await getBlock(slot, 'none', headerSchema))?.blockhash ?? null,
    find,
    async at(slot) {
      const found = await find(slot)
      if (found !== null) return found
      // A lagging or incomplete node gives the same response as for a skipped slot: the next block decides.
      const next = await firstFrom(rpc, slot + 1)
      const header = next === undefined ? null : await getBlock(next, 'none', headerSchema)
      if (header === null || (header.parentSlot >= slot && !identity().simulated)) {
        throw new NodeUnreliable(
          `the node does not have the block of slot ${slot}, and does not show that it was skipped`,
        )
      }
      return null
    },
    async read(from, to, take) {
      const listed = await list(rpc, from, to)
      const next = listed.length === 0 ? await firstFrom(rpc, to + 1) : undefined
      const slots = next === undefined ? listed : [next]
      const read = await mapConcurrently(slots, PREFETCH, (slot) =>
        inBlock({ height: slot, hash: null }, 'getBlock', async () => {
          const block = await getBlock(slot, 'accounts', blockSchema)
          if (block === null) return null
          const { transactions, ...header } = block
          return { slot, header, content: take(transactions), ref: await refOf(slot, header) }
        }),
      )
      const missing = read.indexOf(null)
      const blocks = read.slice(0, missing === -1 ? read.length : missing).filter((block) => block !== null)
      if (blocks.length === 0) throw new NodeUnreliable(`the node gives no block from slot ${from} on`)
      if (!identity().simulated) checkLinks(from, blocks)
      return blocks.map(({ ref, content }) => ({ ref, content }))
    },
    readAlone: (slot, from, take) =>
      inBlock({ height: slot, hash: null }, 'getBlock', async () => {
        const block = await getBlock(slot, 'signatures', signedBlockSchema)
        if (block === null) throw new NodeUnreliable(`the node gives no block of slot ${slot}`)
        const { signatures, ...header } = block
        if (!identity().simulated) checkLinks(from, [{ slot, header }])
        const contents = await mapConcurrently(signatures, ALONE, (id) => getTransaction(rpc, slot, id))
        return { content: take(contents), ref: await refOf(slot, header) }
      }),
  }
}

async function list(rpc: Caller, from: number, to: number): Promise<readonly number[]> {
  const slots = await rpc.call('getBlocks', [from, to, CONFIRMED], slotsSchema)
  return checkList(slots, from, to)
}

async function firstFrom(rpc: Caller, slot: number): Promise<number | undefined> {
  const slots = await rpc.call('getBlocksWithLimit', [slot, 1, CONFIRMED], slotsSchema)
  return checkList(slots, slot, Number.MAX_SAFE_INTEGER)[0]
}

/** Milliseconds. Throws `NodeUnreliable` when the node returns none. */
async function timeOf(rpc: Caller, slot: number, { blockTime }: Header): Promise<number> {
  if (blockTime !== null && blockTime >= FIRST_BLOCK_TIME) return blockTime * 1_000
  const seconds = await absentAsNull(rpc.call('getBlockTime', [slot], blockTimeSchema))
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

/** A block whose parent is within the range but not listed: the parent was omitted, and its transactions with it. */
function checkLinks(from: number, blocks: readonly { readonly slot: number; readonly header: Header }[]): void {
  for (const [index, { slot, header }] of blocks.entries()) {
    const before = blocks[index - 1]
    if (before === undefined) {
      if (header.parentSlot >= from)
        throw new NodeUnreliable(`the node left out the block of slot ${header.parentSlot}`)
    } else if (header.parentSlot !== before.slot || header.previousBlockhash !== before.header.blockhash) {
      throw new NodeUnreliable(`the node's blocks of slots ${before.slot} and ${slot} are not linked`)
    }
  }
}

function checkList(slots: readonly number[], from: number, to: number): readonly number[] {
  const ordered = slots.every((slot, index) => slot >= from && slot <= to && slot > (slots[index - 1] ?? -1))
  if (!ordered) throw new NodeUnreliable(`the node's list of slots from ${from} contradicts the question`)
  return slots
}

async function absentAsNull<T>(answer: Promise<T | null>): Promise<T | null> {
  try {
    return await answer
  } catch (error) {
    if (error instanceof RpcDenial) return null
    throw error
  }
}
