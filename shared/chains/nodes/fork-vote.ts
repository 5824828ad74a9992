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
  block: ComparedBlock,
): Promise<ForkVerdict> {
  return roster.entries.length < 2 ? 'gone' : (await compareBlock(roster, block)).verdict
}

/** A block as one node has it. */
interface ComparedBlock {
  readonly height: number
  readonly hash: string
}

/** What all nodes say of a block together, and which of them have another one there. Leaves these out for a while where the others are more. */
export async function compareBlock<N extends PoolNode>(
  roster: NodeRoster<N>,
  block: ComparedBlock,
): Promise<{ readonly verdict: ForkVerdict; readonly gone: readonly RosterEntry<N>[] }> {
  const votes = await Promise.all(
    roster.entries.map(async (entry) => ({ entry, vote: await voteOf(roster, entry, block) })),
  )
  const having = (wanted: Vote) => votes.filter(({ vote }) => vote === wanted).map(({ entry }) => entry)
  const [gone, kept] = [having('gone'), having('kept')]
  const outcomes = votes.map(({ entry, vote }) => (vote === 'open' ? { entry, error: null } : { entry, answer: vote }))
  const awaited = roster.patience.awaited('fork', outcomes)
  if (gone.length > kept.length) {
    return { verdict: gone.length > 1 || awaited.length === 0 ? 'gone' : 'disputed', gone }
  }
  if (kept.length === gone.length) return { verdict: 'disputed', gone }
  for (const entry of gone) roster.leaveOut(entry)
  return { verdict: 'kept', gone }
}

async function voteOf<N extends PoolNode>(
  roster: NodeRoster<N>,
  entry: RosterEntry<N>,
  block: ComparedBlock,
): Promise<Vote> {
  // Old blocks are no vote, for either side.
  if (entry.health.isPaused || entry.health.isOutdated) return 'open'
  try {
    const hash = await roster.attempt(entry, (node) => node.hashAt(block.height))
    // That it shows no block proves nothing, however high its head is: a vote needs the block that is there instead.
    if (hash === null) return 'open'
    return hash === block.hash ? 'kept' : 'gone'
  } catch (error) {
    if (error instanceof NodeMismatch) return 'none'
    if (!(error instanceof NodeUnreliable)) throw error
    return 'open'
  }
}
