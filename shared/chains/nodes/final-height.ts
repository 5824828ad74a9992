import { NodeMismatch, NodeUnreliable } from '#shared/ports/scanning.ts'
import type { NodeRoster, RosterEntry } from './node-roster.ts'
import type { PoolNode } from './pool-node.ts'

/** How often the nodes that are not in use are asked, milliseconds. */
export const FINAL_EVERY_MS = 5_000

/** Asks a node up to where its chain is final; null where it does not say. */
export type ReadFinal<N> = (node: N) => Promise<number | null>

/** Up to where a network's chain is final, by more than one node's word. */
export interface FinalHeight<N> {
  /**
   * Asks the node in use, and the others in the background when that is due; the first time it waits for these. Gives what
   * the node in use says, and throws what it fails in.
   */
  update(node: N, read: ReadFinal<N>): Promise<number | null>
  /** What two nodes say, or the only one on our chain; null until they did. Asks the others again when that is due. */
  agreed(): number | null
  /** Resolves when nobody is being asked. */
  settled(): Promise<void>
}

/** What it needs besides the nodes. */
export interface FinalHeightOptions {
  /** Milliseconds that only ever grow. */
  readonly now: () => number
  readonly everyMs: number
}

/** Nothing is final yet. The last word of a node that is silent counts on: what is final stays so. */
export function createFinalHeight<N extends PoolNode>(
  roster: NodeRoster<N>,
  { now, everyMs }: FinalHeightOptions,
): FinalHeight<N> {
  const { entries } = roster
  const claims = new Map<RosterEntry<N>, number | null>()
  const strangers = new Set<RosterEntry<N>>()
  let question: { readonly inUse: N; readonly read: ReadFinal<N> } | null = null
  let askedAt = Number.NEGATIVE_INFINITY
  let asking: Promise<void> | null = null

  async function askOne(entry: RosterEntry<N>, read: ReadFinal<N>): Promise<void> {
    try {
      claims.set(entry, await roster.attempt(entry, read))
      strangers.delete(entry)
    } catch (error) {
      // A node on another chain is as good as none. What else it fails in is kept in its health.
      if (error instanceof NodeMismatch) strangers.add(entry)
      else if (!(error instanceof NodeUnreliable)) throw error
    }
  }

  async function askOthers(): Promise<void> {
    if (entries.length < 2 || question === null || now() - askedAt < everyMs) return
    askedAt = now()
    const { inUse, read } = question
    const others = entries.filter(
      ({ node, health }) => node !== inUse && !health.isPaused && !health.isResting && !health.isExcluded,
    )
    await Promise.allSettled(others.map((entry) => askOne(entry, read)))
  }

  function askInBackground(): Promise<void> {
    asking ??= askOthers().finally(() => {
      asking = null
    })
    return asking
  }

  return {
    async update(node, read) {
      const own = await read(node)
      const entry = entries.find((one) => one.node === node)
      if (entry !== undefined) {
        claims.set(entry, own)
        strangers.delete(entry)
      }
      const isFirst = question === null
      question = { inUse: node, read }
      const asked = askInBackground()
      if (isFirst) await asked
      return own
    },
    agreed() {
      void askInBackground()
      const ours = entries.filter((entry) => !strangers.has(entry))
      const heights = ours.flatMap((entry) => (entry.health.isOutvoted ? [] : (claims.get(entry) ?? [])))
      const highestFirst = heights.toSorted((one, other) => other - one)
      return highestFirst[ours.length < 2 ? 0 : 1] ?? null
    },
    settled: async () => {
      await asking
    },
  }
}
