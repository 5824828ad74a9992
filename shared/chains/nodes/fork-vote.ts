import type { ForkVerdict } from '#shared/ports/scanning.ts'
import { NodeMismatch, NodeUnreliable } from '#shared/ports/scanning.ts'
import type { NodeRoster, RosterEntry } from './node-roster.ts'
import type { PoolNode } from './pool-node.ts'

/** `none`: it is on another chain. `open`: it does not say. */
type Vote = 'gone' | 'kept' | 'none' | 'open'

/**
 * Result of comparing one of our blocks, which one node no longer has, across all nodes of a network:
 *
 * | another block there | ours | is waited for | verdict |
 * |---|---|---|---|
 * | more than the others, and two or no other node is waited for | fewer | any | `gone` |
 * | one | none | some | `disputed`: queried again |
 * | fewer | more | any | `kept`; those with another block are left out for a while |
 * | as many | as many | any | `disputed` |
 *
 * So with two nodes that disagree nothing happens until one of them changes, and with three the deviating one is left out. What one node says alone
 * counts once the others were waited for: from when they first gave no vote, in a check of all nodes or here.
 */
export async function voteOnFork<N extends PoolNode>(
  roster: NodeRoster<N>,
  block: { readonly height: number; readonly hash: string },
): Promise<ForkVerdict> {
  if (roster.entries.length < 2) return 'gone'
  const hashes = async (node: N) => ({ theirs: await node.hashAt(block.height), ours: block.hash })
  const votes = await Promise.all(
    roster.entries.map(async (entry) => ({ entry, ...(await voteOf(roster, entry, hashes)) })),
  )
  const having = (wanted: Vote) => votes.filter(({ vote }) => vote === wanted).map(({ entry }) => entry)
  const [gone, kept] = [having('gone'), having('kept')]
  if (gone.length > kept.length) {
    return gone.length > 1 || !votes.some(({ isAwaited }) => isAwaited) ? 'gone' : 'disputed'
  }
  if (kept.length === gone.length) return 'disputed'
  for (const entry of gone) roster.leaveOut(entry)
  return 'kept'
}

/** The block that a node has in the place of one of ours, and ours. */
interface BlockHashes {
  readonly theirs: string | null
  readonly ours: string
}

/** What a node says of one of our blocks, and where it says nothing whether it is waited for: a vote that counts, or the regular check of all nodes. */
export async function voteOf<N extends PoolNode>(
  roster: NodeRoster<N>,
  entry: RosterEntry<N>,
  hashes: (node: N) => Promise<BlockHashes>,
): Promise<{ readonly vote: Vote; readonly isAwaited: boolean }> {
  const vote = await requestVote(roster, entry, hashes)
  const outcome = vote === 'open' ? { entry, error: null } : { entry, answer: vote }
  return { vote, isAwaited: roster.patience.awaited('fork', [outcome]).length > 0 }
}

async function requestVote<N extends PoolNode>(
  roster: NodeRoster<N>,
  entry: RosterEntry<N>,
  hashes: (node: N) => Promise<BlockHashes>,
): Promise<Vote> {
  if (entry.health.isPaused) return 'open'
  try {
    const { theirs, ours } = await roster.attempt(entry, hashes)
    // That it shows no block proves nothing, however high its head is: a vote needs the block that is there instead. Nor do old blocks, for either side.
    if (theirs === null || entry.health.standsAt !== null) return 'open'
    return theirs === ours ? 'kept' : 'gone'
  } catch (error) {
    if (error instanceof NodeMismatch) return 'none'
    if (!(error instanceof NodeUnreliable)) throw error
    return 'open'
  }
}
