import type { BlockRef } from '#shared/ports/scanned-blocks.ts'
import { type ChainClient, NodeUnreliable } from '#shared/ports/scanning.ts'
import type { ScanSession } from './scan-session.ts'
import { cutWindow, type HashWindow } from './scan-window.ts'

/** Result of comparing the scanned blocks with those of a node. */
export interface Fork {
  /** The newest block known to be on both branches; null when there is none. The branches may part above it, below `lowestGone`. */
  readonly block: BlockRef | null
  /** Height of the lowest scanned block that the node replaced or does not have; null when there is none. */
  readonly lowestGone: number | null
}

/** Hash and time of a block, which a pruned node of the Bitcoin family has of every block; null when no node has them any more, or an empty slot is there. */
export async function placeOf(client: ChainClient, height: number): Promise<BlockRef | null> {
  try {
    return await client.blockAt(height)
  } catch (error) {
    if (error instanceof NodeUnreliable && error.isGone) return null
    throw error
  }
}

/**
 * Newest block of a window that the node still has, or has the child of, and the lowest one above it that it does not. Behind skipped blocks the window
 * begins with one that no node has.
 */
export async function findFork(client: ChainClient, window: HashWindow, headHeight: number): Promise<Fork> {
  let lowestGone: number | null = null
  let above: BlockRef | null = null
  for (const [height, hash] of [...window].reverse()) {
    if (height > headHeight) {
      lowestGone = height
      continue
    }
    const block: BlockRef | null = await client.blockAt(height).catch((error: unknown) => {
      const isNamed = error instanceof NodeUnreliable && error.isGone && above?.parentHash === hash
      // Its own time is unknown, and everything before its child is known.
      return isNamed && above !== null ? { ...above, height, hash, time: above.time - 1 } : Promise.reject(error)
    })
    if (block === null && client.hasGaps !== true) {
      throw new NodeUnreliable(`the node has no block ${height} below its head`)
    }
    if (block?.hash === hash) return { block, lowestGone }
    lowestGone = height
    above = block
  }
  return { block: null, lowestGone }
}

/** A branch as it was scanned, from its newest block down. */
export interface ScannedBranch {
  /** The newest scanned block. */
  readonly height: number
  readonly window: HashWindow
  /** The node's head: blocks above it are not compared. */
  readonly headHeight: number
}

/**
 * Where the node's branch leaves a scanned one, as exactly as hashes show it: those that the cursor remembers, then those of stored payments between
 * them. So no payment in a block that still stands is above the result. Throws `NodeUnreliable` while the node lacks a block below its head.
 */
export async function locateFork(session: ScanSession, { height, window, headHeight }: ScannedBranch): Promise<Fork> {
  const { client } = session.source
  const coarse = await findFork(client, cutWindow(window, height), headHeight)
  if (coarse.block === null) return coarse
  const top = Math.min(headHeight, (coarse.lowestGone ?? height + 1) - 1)
  const paid = await blocksOfPayments(session, coarse.block.height + 1, top)
  const fine = await findFork(client, paid, headHeight)
  return { block: fine.block ?? coarse.block, lowestGone: fine.lowestGone ?? coarse.lowestGone }
}

/**
 * Whether a reorganisation goes deeper than any that is allowed: a block that is final, or under more than `finalityDepth` others, was replaced. Not
 * how far below the last remembered block is: the blocks between are read again. Pure.
 */
export function isTooDeep(
  { block, lowestGone }: Fork,
  {
    height,
    finalizedHeight,
    finalityDepth,
  }: { readonly height: number; readonly finalizedHeight: number | null; readonly finalityDepth: number },
): boolean {
  if (block === null) return true
  const settled = Math.max(height - finalityDepth, finalizedHeight ?? -1)
  return block.height < settled && lowestGone !== null && lowestGone <= settled
}

/** Heights and hashes of blocks in which payments are stored, ascending. */
async function blocksOfPayments({ deps, source }: ScanSession, from: number, to: number): Promise<HashWindow> {
  if (from > to) return []
  const { mode, network } = source
  const blocks = [{ height: to, hash: '' }]
  const rows = await deps.payments.listNonCanonical({ mode, network, from, blocks, confirmedToo: true })
  const found = new Map(
    rows.flatMap(({ block }) => (block === null || block.height > to ? [] : [[block.height, block.hash] as const])),
  )
  return [...found].sort(([one], [other]) => one - other)
}
