import type { BlockRef } from '#shared/ports/scanned-blocks.ts'
import { NodeUnreliable } from '#shared/ports/scanning.ts'
import { BlockMissing, type Caller, getBlock, listSlots, newestSlot } from './get-block.ts'
import { type Header, headerSchema } from './wire.ts'

/**
 * Slots below the newest one in which a node must have a block. Block stores are usually one or two slots behind the votes, and sometimes many
 * more (anza-xyz/agave#10134, January 2026); a leader has four slots in a row, so that a range of 32 has eight leaders.
 */
const RANGE = 32
/** Listed blocks of that range that are requested, counted back from the newest: a list may be ahead of the blocks. */
const STEPS = [1, 2, 4, 8, 16, RANGE]

/** Slot and hash of a block. */
export type BlockPosition = Pick<BlockRef, 'height' | 'hash'>

/** What one call of `newestBlock` needs. */
export interface HeadScope {
  readonly rpc: Caller
  /** The hash by which we refer to a block. */
  hashOf(slot: number, header: Header): string
}

/**
 * The newest block that the node has: of the newest confirmed slot, or where its block store is behind its votes, a listed one of the 32 slots
 * before. `known` is returned while the node has nothing newer. Throws `NodeUnreliable`, in the words of the node, when it gives no block there.
 */
export async function newestBlock(scope: HeadScope, known: BlockPosition | null): Promise<BlockPosition> {
  const newest = await newestSlot(scope.rpc, 'confirmed')
  if (known?.height === newest) return known
  const atNewest = await firstGiven(scope, [newest])
  if (!(atNewest instanceof BlockMissing)) return atNewest
  const lowest = Math.max(0, newest - RANGE)
  // A known block above the newest slot is another back end's, or of a branch that the node has left.
  const usable = known !== null && known.height >= lowest && known.height < newest ? known : null
  const from = usable === null ? lowest : usable.height + 1
  const listed = from < newest ? await listSlots(scope.rpc, from, newest - 1) : []
  const steps = new Set(STEPS.flatMap((step) => listed.at(-Math.min(step, listed.length)) ?? []))
  const earlier = await firstGiven(scope, [...steps])
  if (!(earlier instanceof BlockMissing)) return earlier
  if (usable !== null) return usable
  throw new NodeUnreliable(`the node has no block in slots ${lowest} to ${newest}: ${atNewest.message}`)
}

/** The first of these blocks that the node gives. Their times do not count: the newest block may have none yet. */
async function firstGiven({ rpc, hashOf }: HeadScope, slots: readonly number[]): Promise<BlockPosition | BlockMissing> {
  let missing = new BlockMissing('the node lists no block')
  for (const slot of slots) {
    try {
      const header = await getBlock(rpc, slot, 'none', headerSchema)
      return { height: slot, hash: hashOf(slot, header) }
    } catch (error) {
      if (!(error instanceof BlockMissing)) throw error
      missing = error
    }
  }
  return missing
}
