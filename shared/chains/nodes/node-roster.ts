import type { Metrics } from '#shared/ports/runtime.ts'
import { BlockUnreadable, NodeMismatch, NodeUnreliable } from '#shared/ports/scanning.ts'
import { createNodeHealth, type NodeHealth } from './node-health.ts'
import type { Demand, PoolNode, Search } from './pool-node.ts'
import { RpcDenial, RpcFailure } from './rpc-failure.ts'

/** A node and its state. */
export interface RosterEntry<N> {
  readonly node: N
  readonly health: NodeHealth
}

/** Work that succeeded, and on which node. */
interface NodeAnswer<N, T> {
  readonly entry: RosterEntry<N>
  readonly answer: T
}

/** The nodes of a pool in the order in which they are tried. */
export interface NodeRoster<N extends PoolNode> {
  readonly entries: readonly RosterEntry<N>[]
  /** The node in use, which stays that when another one has a better answer. Undefined only when there are no nodes. */
  current: RosterEntry<N> | undefined
  /** Nodes to try, best first: the one in use, the others by health, those that rest, and those of another chain. */
  candidates(): readonly RosterEntry<N>[]
  /** Runs work on one node and updates its health. */
  attempt<T>(entry: RosterEntry<N>, work: (node: N) => Promise<T>, height?: number): Promise<T>
  /** Excludes this node for a while, because others contradict it. Another one is used then, where there is one. */
  leaveOut(entry: RosterEntry<N>): void
  readonly patience: Patience<RosterEntry<N>>
}

/** Settings of a roster; see the pool. */
export interface NodeRosterOptions<N extends PoolNode> {
  readonly nodes: readonly N[]
  readonly metrics: Metrics
  readonly labels: Readonly<Record<string, string>>
  readonly now: () => number
}

/** A roster whose first node is in use. */
export function createNodeRoster<N extends PoolNode>(options: NodeRosterOptions<N>): NodeRoster<N> {
  const { metrics, labels, now } = options
  const entries: readonly RosterEntry<N>[] = options.nodes.map((node) => ({ node, health: createNodeHealth(now) }))

  function noteFailure({ node, health }: RosterEntry<N>, error: unknown): void {
    const provider = { ...labels, provider: node.host }
    if (error instanceof NodeMismatch) {
      health.excluded()
      metrics.gauge('scanner_node_excluded', 1, provider)
      return
    }
    // Lagging is not a fault: the node need not rest for it.
    if (!(error instanceof NodeUnreliable) || error instanceof NodeLag || error instanceof RpcDenial) return
    // What it says it has dropped, it was asked for and answered.
    if (error.isGone) {
      health.worked()
      return
    }
    // A block that is too large for one node is too large for all: that is not this node's fault.
    if (error instanceof BlockUnreadable && error.cause instanceof RpcFailure && error.cause.kind === 'split') return
    health.failed(error instanceof BlockUnreadable ? error.cause : error)
    metrics.count('scanner_node_failures_total', provider)
  }

  const roster: NodeRoster<N> = {
    entries,
    current: entries[0],
    candidates() {
      const rank = (entry: RosterEntry<N>) =>
        (entry.health.isExcluded ? 4 : 0) + (entry.health.isResting ? 2 : 0) + (entry === roster.current ? 0 : 1)
      const score = ({ node, health }: RosterEntry<N>) => health.score(node.latencyMs)
      const present = entries.filter(({ health }) => !health.isPaused)
      return present.toSorted((a, b) => rank(a) - rank(b) || score(a) - score(b))
    },
    async attempt(entry, work, height) {
      const { node, health } = entry
      try {
        await node.identify()
        if (height !== undefined && health.head < height) {
          health.head = await node.headHeight()
          if (health.head < height) throw new NodeLag(`${node.host} has no block ${height} yet`)
        }
        const answer = await work(node)
        health.worked()
        metrics.gauge('scanner_node_excluded', 0, { ...labels, provider: node.host })
        return answer
      } catch (error) {
        noteFailure(entry, error)
        throw error
      }
    },
    leaveOut(entry) {
      entry.health.outvoted()
      metrics.count('scanner_node_outvoted_total', { ...labels, provider: entry.node.host })
      if (roster.current === entry) roster.current = roster.candidates()[0] ?? entry
    },
    patience: createPatience(now),
  }
  return roster
}

/** The answer of one node to this work, or why it gave none. */
export const outcomeOf = <N extends PoolNode, T>(
  roster: NodeRoster<N>,
  entry: RosterEntry<N>,
  work: (node: N) => Promise<T>,
  height?: number,
): Promise<Outcome<RosterEntry<N>, T>> =>
  roster.attempt(entry, work, height).then(
    (answer) => ({ entry, answer }),
    (error: unknown) => ({ entry, error }),
  )

/** Why nodes gave no answer. */
export const failuresOf = (outcomes: readonly Outcome<unknown>[]): readonly unknown[] =>
  outcomes.flatMap((one) => ('error' in one ? [one.error] : []))

/** Runs work on the first node that completes it, the best first. Throws as `RpcPool.use` does. */
export async function firstOf<N extends PoolNode, T>(
  roster: NodeRoster<N>,
  work: (node: N) => Promise<T>,
  { height, settles = () => true, search }: Demand<T>,
): Promise<NodeAnswer<N, T>> {
  const outcomes: Outcome<RosterEntry<N>, T>[] = []
  for (const entry of roster.candidates()) {
    const outcome = await outcomeOf(roster, entry, work, height)
    outcomes.push(outcome)
    if ('error' in outcome && !isOfNode(outcome.error)) throw outcome.error
    if ('error' in outcome || !settles(outcome.answer)) continue
    if (search !== undefined) roster.patience.awaited(search, [outcome])
    return { ...outcome, entry: outcomes.find((one) => 'answer' in one)?.entry ?? entry }
  }
  const first = outcomes.find((one) => 'answer' in one)
  const paused = roster.entries.flatMap((entry) =>
    entry.health.isPaused ? { entry, error: entry.health.pausedBy } : [],
  )
  if (first !== undefined) {
    const awaited = search === undefined ? [] : roster.patience.awaited(search, [...outcomes, ...paused])
    if (awaited.length > 0) throw worstOf(awaited)
    return first
  }
  // While all of them pause, the reason is what the last one said when it asked for that.
  const pausedBy = paused.at(-1)?.error
  if (outcomes.length > 0 || pausedBy == null) throw worstOf(failuresOf(outcomes))
  throw new NodeUnreliable(`every node asked for a pause: ${pausedBy.message}`)
}

const isOfNode = (error: unknown): boolean =>
  (error instanceof NodeUnreliable || error instanceof NodeMismatch) && !(error instanceof RpcDenial)

/** The failure to report among those of several nodes: a silent node may be the right one, so another chain comes last. */
export function worstOf(failures: readonly unknown[]): unknown {
  // A failure that names a block says more than one of a node that was not called, or that went away over it.
  const named = failures.findLast((failure) => failure instanceof BlockUnreadable && !failure.isAway)
  if (named !== undefined) return named
  const silent = failures.filter((failure) => !(failure instanceof NodeMismatch))
  return silent.at(-1) ?? failures.at(-1) ?? new NodeUnreliable('every node asked for a pause')
}

/** The node responds but does not have the block yet. */
export class NodeLag extends NodeUnreliable {}

/** How long a node that gives no answer is waited for, milliseconds: longer than any pause that a node is granted. */
const AWAITED_MS = 600_000

/** A node's answer, or why it gave none. */
type Outcome<N, T = unknown> =
  | { readonly entry: N; readonly answer: T }
  | { readonly entry: N; readonly error: unknown }

/** What nodes say together where some found nothing. A node may serve one search and fail another. */
interface Patience<N> {
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
function createPatience<N>(now: () => number): Patience<N> {
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
