import type { z } from 'zod'
import { NodeUnreliable } from '#shared/ports/scanning.ts'
import type { RpcClient } from '../../nodes/json-rpc.ts'
import { nullWhere } from '../../nodes/null-where.ts'
import { RpcDenial } from '../../nodes/rpc-failure.ts'
import { slotSchema, slotsSchema } from './wire.ts'

const CONFIRMED = { commitment: 'confirmed' } as const
/** Nodes refuse blocks with transactions of a higher version; version 1 is on mainnet since September 2026. */
const BLOCK_OPTIONS = { ...CONFIRMED, encoding: 'json', rewards: false, maxSupportedTransactionVersion: 1 } as const

/**
 * Finalized slots above a block after which a node that does not have it will not get it: five minutes at the shortest slots announced (200 ms,
 * SIMD-0525). Late ones came within a minute (solana-labs/solana#20370, 2021).
 */
const LOST_AFTER = 1_500

/** One node. */
export type Caller = Pick<RpcClient, 'call'>

/** The node does not have a block, or not yet: in its own words. `isGone`: it lost it, and will not have it again. */
export class BlockMissing extends NodeUnreliable {
  override readonly isGone: boolean

  constructor(message: string, { isGone = false }: { readonly isGone?: boolean } = {}) {
    super(message)
    this.isGone = isGone
  }
}

/** A confirmed block in one of its forms. Throws `BlockMissing` when the node does not have it, or not yet. */
export async function getBlock<T>(
  rpc: Caller,
  slot: number,
  details: 'accounts' | 'signatures' | 'none',
  schema: z.ZodType<T>,
): Promise<T> {
  const params = [slot, { ...BLOCK_OPTIONS, transactionDetails: details }]
  const block = await rpc.call('getBlock', params, schema.nullable()).catch((error: unknown) => {
    if (error instanceof RpcDenial) throw new BlockMissing(`no block of slot ${slot}: ${error.message}`)
    throw error
  })
  if (block === null) throw new BlockMissing(`the node gives no block of slot ${slot}`)
  return block
}

/** A block, or null when the node does not have it, or not yet. */
export const orNull = <T>(block: Promise<T>): Promise<T | null> =>
  nullWhere(block, (error) => error instanceof BlockMissing)

/**
 * The block of a slot of which a later block is known to follow it. A node that does not have it although it is old has lost it: it started from
 * a newer snapshot, or what it keeps for long has a gap. Both are answered in the words for a skipped slot.
 */
export async function namedBlock<T>(rpc: Caller, slot: number, block: Promise<T>): Promise<T> {
  try {
    return await block
  } catch (error) {
    if (!(error instanceof BlockMissing)) throw error
    const final = await newestSlot(rpc, 'finalized')
    if (final - slot < LOST_AFTER) throw error
    throw new BlockMissing(`${error.message}; the node no longer has it, ${final - slot} slots later`, { isGone: true })
  }
}

/** The newest slot at a commitment. */
export function newestSlot(rpc: Caller, commitment: 'confirmed' | 'finalized'): Promise<number> {
  return rpc.call('getSlot', [{ commitment }], slotSchema)
}

/** The slots with a confirmed block from `from` to `to`, as the node lists them. Throws `NodeUnreliable` for a list that cannot be one. */
export async function listSlots(rpc: Caller, from: number, to: number): Promise<readonly number[]> {
  return checkList(await rpc.call('getBlocks', [from, to, CONFIRMED], slotsSchema), from, to)
}

/** The first slot with a confirmed block from `slot` on; undefined when the node lists none. */
export async function firstSlotFrom(rpc: Caller, slot: number): Promise<number | undefined> {
  const slots = await rpc.call('getBlocksWithLimit', [slot, 1, CONFIRMED], slotsSchema)
  return checkList(slots, slot, Number.MAX_SAFE_INTEGER)[0]
}

function checkList(slots: readonly number[], from: number, to: number): readonly number[] {
  const ordered = slots.every((slot, index) => slot >= from && slot <= to && slot > (slots[index - 1] ?? -1))
  if (!ordered) throw new NodeUnreliable(`the node's list of slots from ${from} contradicts the question`)
  return slots
}
