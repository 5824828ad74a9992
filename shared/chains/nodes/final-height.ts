import { NodeMismatch, NodeUnreliable } from '#shared/ports/scanning.ts'
import type { NodeRoster, RosterEntry } from './node-roster.ts'
import type { PoolNode } from './pool-node.ts'
import { createProgress } from './progress.ts'

/** How often the nodes that are not in use are queried, milliseconds. */
export const FINAL_EVERY_MS = 5_000

/** Reads a node's finalized height; null where it gives none now, which takes back nothing that it gave before. */
export type ReadFinal<N> = (node: N) => Promise<number | null>

/** Finalized height of a network, confirmed by more than one node. */
export interface FinalHeight<N> {
  /**
   * Queries the node in use, and the others in the background when that is due; the first time it waits for these. Returns the
   * height of the node in use, and throws its error.
   */
  update(node: N, read: ReadFinal<N>): Promise<number | null>
  /** Height confirmed by two nodes, or by the only one on our chain; null until then. Queries the others again when that is due. */
  agreed(): number | null
  /** The final block at which a node stands still while another node goes on; null while it follows. */
  standsAt(entry: RosterEntry<N>): number | null
  /** Resolves when no query is running. */
  settled(): Promise<void>
}

/** Settings besides the nodes. */
export interface FinalHeightOptions {
  /** Monotonic milliseconds. */
  readonly now: () => number
  readonly everyMs: number
}

/**
 * Nothing is final yet. The last height of a silent node, or of one that stands still, keeps counting for what it says: finality never goes back.
 */
export function createFinalHeight<N extends PoolNode>(
  roster: NodeRoster<N>,
  { now, everyMs }: FinalHeightOptions,
): FinalHeight<N> {
  const { entries } = roster
  const claims = new Map<RosterEntry<N>, number>()
  const progress = createProgress<RosterEntry<N>>(now)
  const strangers = new Set<RosterEntry<N>>()
  let question: { readonly inUse: N; readonly read: ReadFinal<N> } | null = null
  let requestedAt = Number.NEGATIVE_INFINITY
  let running: Promise<void> | null = null

  function note(entry: RosterEntry<N>, height: number | null): void {
    strangers.delete(entry)
    if (height === null) return
    claims.set(entry, height)
    // What an outvoted node claims makes no other one old.
    if (!entry.health.isOutvoted) progress.note(entry, height)
  }

  async function readOne(entry: RosterEntry<N>, read: ReadFinal<N>): Promise<void> {
    try {
      note(entry, await roster.attempt(entry, read))
    } catch (error) {
      // A node on another chain does not count. Its other errors are recorded in its health.
      if (error instanceof NodeMismatch) strangers.add(entry)
      else if (!(error instanceof NodeUnreliable)) throw error
    }
  }

  async function readOthers(): Promise<void> {
    if (entries.length < 2 || question === null || now() - requestedAt < everyMs) return
    requestedAt = now()
    const { inUse, read } = question
    const others = entries.filter(
      ({ node, health }) => node !== inUse && !health.isPaused && !health.isResting && !health.isExcluded,
    )
    await Promise.allSettled(others.map((entry) => readOne(entry, read)))
  }

  function readInBackground(): Promise<void> {
    running ??= readOthers().finally(() => {
      running = null
    })
    return running
  }

  return {
    async update(node, read) {
      const own = await read(node)
      const entry = entries.find((one) => one.node === node)
      if (entry !== undefined) note(entry, own)
      const isFirst = question === null
      question = { inUse: node, read }
      const reading = readInBackground()
      if (isFirst) await reading
      return own
    },
    agreed() {
      void readInBackground()
      const ours = entries.filter((entry) => !strangers.has(entry))
      const heights = ours.flatMap((entry) => (entry.health.isOutvoted ? [] : (claims.get(entry) ?? [])))
      const highestFirst = heights.toSorted((one, other) => other - one)
      return highestFirst[ours.length < 2 ? 0 : 1] ?? null
    },
    standsAt: (entry) => (strangers.has(entry) ? null : progress.standsAt(entry)),
    settled: async () => {
      await running
    },
  }
}
