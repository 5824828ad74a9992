import { NodeMismatch, NodeUnreliable } from '#shared/ports/scanning.ts'
import type { Search } from './pool-node.ts'

/** How long a node that gives no answer is waited for, milliseconds: longer than any pause that a node is granted. */
const AWAITED_MS = 600_000

/** A node's answer, or why it gave none. */
export type Outcome<N, T = unknown> =
  | { readonly entry: N; readonly answer: T }
  | { readonly entry: N; readonly error: unknown }

/** What nodes say together where some found nothing. A node may serve one search and fail another. */
export interface Patience<N> {
  /**
   * Why nodes gave this search no answer that are waited for: each for ten minutes, and then not until it answers such a search. Where there is none,
   * nothing was found. Nodes that dropped it, and those on another chain, answered.
   */
  awaited(search: Search, outcomes: readonly Outcome<N>[]): readonly unknown[]
  /** Whether some search goes on without the node. */
  goesWithout(node: N): boolean
}

interface Wait {
  readonly since: number
  readonly lastAt: number
  readonly isOver: boolean
}

/** Waits for every node at first; `now` in monotonic milliseconds. */
export function createPatience<N>(now: () => number): Patience<N> {
  const waits = new Map<N, Map<Search, Wait>>()
  const hasAnswered = (outcome: Outcome<N>): boolean =>
    'answer' in outcome ||
    outcome.error instanceof NodeMismatch ||
    (outcome.error instanceof NodeUnreliable && outcome.error.isGone)

  function isAwaited(node: N, search: Search): boolean {
    const at = now()
    const ofNode = waits.get(node) ?? new Map<Search, Wait>()
    const known = ofNode.get(search)
    const since = known !== undefined && at - known.lastAt < AWAITED_MS ? known.since : at
    const isOver = known?.isOver === true || at - since >= AWAITED_MS
    waits.set(node, ofNode.set(search, { since, lastAt: at, isOver }))
    return !isOver
  }

  return {
    awaited: (search, outcomes) =>
      outcomes.flatMap((outcome) => {
        if (hasAnswered(outcome)) waits.get(outcome.entry)?.delete(search)
        else if ('error' in outcome && isAwaited(outcome.entry, search)) return [outcome.error]
        return []
      }),
    goesWithout: (node) => [...(waits.get(node)?.values() ?? [])].some(({ isOver }) => isOver),
  }
}
