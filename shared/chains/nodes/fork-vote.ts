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
 * counts once the others were waited for.
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
  const outcomes = votes.map(({ entry, vote }) => (vote === 'open' ? { entry, error: null } : { entry, answer: vote }))
  const awaited = roster.patience.awaited('fork', outcomes)
  if (gone.length > kept.length) return gone.length > 1 || awaited.length === 0 ? 'gone' : 'disputed'
  if (kept.length === gone.length) return 'disputed'
  for (const entry of gone) roster.leaveOut(entry)
  return 'kept'
}

async function voteOf<N extends PoolNode>(
  roster: NodeRoster<N>,
  entry: RosterEntry<N>,
  block: { readonly height: number; readonly hash: string },
): Promise<Vote> {
  // Old blocks are no vote, for either side.
  if (entry.health.isPaused || entry.health.standsAt !== null) return 'open'
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
