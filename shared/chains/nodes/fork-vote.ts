import type { ForkVerdict } from '#shared/ports/scanning.ts'
import { NodeMismatch, NodeUnreliable } from '#shared/ports/scanning.ts'
import type { NodeRoster, RosterEntry } from './node-roster.ts'
import type { PoolNode } from './pool-node.ts'

/** A node this many blocks below the one in question, or above it, may show what is there in a moment. */
const NEAR = 3

/** `later`: it may have a result soon. `none`: it has none, and no node waits for it. */
type Vote = 'gone' | 'kept' | 'later' | 'none'

/**
 * Result of comparing one of our blocks, which one node no longer has, across all nodes of a network:
 *
 * | another block there | ours | may have it soon | verdict |
 * |---|---|---|---|
 * | more than the others, and two or no other node available | fewer | any | `gone` |
 * | one | none | some | `disputed`: queried again |
 * | fewer | more | any | `kept`; those with another block are left out for a while |
 * | as many | as many | any | `disputed` |
 *
 * So with two nodes that disagree nothing happens until one of them changes, and with three the deviating one is left out.
 */
export async function voteOnFork<N extends PoolNode>(
  roster: NodeRoster<N>,
  block: { readonly height: number; readonly hash: string },
): Promise<ForkVerdict> {
  if (roster.entries.length < 2) return 'gone'
  const votes = await Promise.all(
    roster.entries.map(async (entry) => ({ entry, vote: await voteOf(roster, entry, block) })),
  )
  const having = (wanted: Vote) => votes.filter(({ vote }) => vote === wanted).map(({ entry }) => entry)
  const [gone, kept] = [having('gone'), having('kept')]
  if (gone.length > kept.length) return gone.length > 1 || having('later').length === 0 ? 'gone' : 'disputed'
  if (kept.length === gone.length) return 'disputed'
  for (const entry of gone) roster.leaveOut(entry)
  return 'kept'
}

async function voteOf<N extends PoolNode>(
  roster: NodeRoster<N>,
  entry: RosterEntry<N>,
  block: { readonly height: number; readonly hash: string },
): Promise<Vote> {
  // A node that is down may request pauses indefinitely.
  if (entry.health.isPaused) return entry.health.isDown ? 'none' : 'later'
  // Old blocks are no vote, for either side. That it may have newer ones again holds back what a single other node says.
  if (entry.health.standsAt !== null) return 'later'
  try {
    return await roster.attempt(entry, async (node): Promise<Vote> => {
      const hash = await node.hashAt(block.height)
      if (hash !== null) return hash === block.hash ? 'kept' : 'gone'
      // That it shows no block proves nothing, however high its head is: a vote needs the block that is there instead.
      return (await node.headHeight()) + NEAR >= block.height ? 'later' : 'none'
    })
  } catch (error) {
    if (error instanceof NodeMismatch) return 'none'
    if (!(error instanceof NodeUnreliable)) throw error
    return entry.health.isDown ? 'none' : 'later'
  }
}
