import type { Metrics } from '#shared/ports/runtime.ts'
import type { ForkVerdict, OutdatedNode, SeenTransaction, Silence } from '#shared/ports/scanning.ts'
import { createBlockSources } from './block-sources.ts'
import { createFinalHeight, FINAL_EVERY_MS, type FinalHeight } from './final-height.ts'
import { findDisputed, type NodeQuery } from './find-disputed.ts'
import { compareBlock, voteOnFork } from './fork-vote.ts'
import {
  createNodeRoster,
  failuresOf,
  firstOf,
  type NodeRoster,
  outcomeOf,
  type RosterEntry,
  worstOf,
} from './node-roster.ts'
import type { Demand, PoolNode, Search } from './pool-node.ts'
import { createProgress } from './progress.ts'

/** How often the nodes that are not in use are checked, milliseconds. */
const SURVEY_MS = 30_000
/** A node this many blocks behind another one is replaced by it. */
const LAG_MAX = 3
/** Two nodes may differ about the newest blocks; below this many on top they should not. */
const SETTLED_DEPTH = 16

/** The nodes of one network. */
export interface RpcPool<N extends PoolNode> {
  /**
   * Runs `work` on one node, so that all its responses come from the same one. It is always the node that
   * worked last until it fails; then the next best is tried from the beginning. Throws the last failure when none is
   * left, `NodeMismatch` only when every node is on another chain. Errors that are not a node's fault are passed on at once.
   */
  use<T>(work: (node: N) => Promise<T>, demand?: Demand<T>): Promise<T>
  /** Records that a scan's blocks came from this node: it does not count as a second opinion about them. */
  noteBlocks(node: N, from: number, to: number): void
  /**
   * Ids of the transactions that no node confirms other than the one that returned their block, nor two nodes where that
   * one is unknown. Empty when there is no other node on our chain; throws `NodeUnreliable` when none responds.
   */
  disputed(transactions: readonly SeenTransaction[], query: NodeQuery<N>): Promise<ReadonlySet<string>>
  /** Result of comparing a scanned block that the node in use no longer has across all nodes. `gone` where there is one node. */
  voteOnFork(block: { readonly height: number; readonly hash: string }): Promise<ForkVerdict>
  /** Which nodes are down, and which stand still. */
  silence(): Silence
  /** Finalized height, confirmed by two of the nodes. */
  readonly final: FinalHeight<N>
  /** Records a node's head, and checks the other nodes in the background when that is due. */
  noteHead(node: N, height: number): void
  /**
   * Checks the nodes that are not in use: excludes those on another chain, puts a settled block of the node in use to the
   * vote, and switches to a node that is further ahead. Never throws because of a node.
   */
  survey(): Promise<void>
  /**
   * Runs `work` on every node on our chain and returns the results. Throws when there are none, and while a node is waited for that gave none:
   * what the others did not find may be there. So is one that has no block `height` yet.
   */
  each<T>(work: (node: N) => Promise<T>, search: Search, height?: number): Promise<readonly T[]>
  close(): Promise<void>
}

/** Settings of a pool. `nodes` are in order of preference. */
export interface RpcPoolOptions<N extends PoolNode> {
  readonly nodes: readonly N[]
  readonly metrics: Metrics
  readonly labels: Readonly<Record<string, string>>
  /** Monotonic milliseconds. */
  readonly now?: () => number
  /** How often the finalized height of nodes not in use is read, milliseconds. */
  readonly finalEveryMs?: number
}

/** Nodes by health: a failing node rests for a while, one on another chain is excluded, a working one is kept. */
export function createRpcPool<N extends PoolNode>(options: RpcPoolOptions<N>): RpcPool<N> {
  const { now = () => performance.now(), finalEveryMs = FINAL_EVERY_MS } = options
  const roster = createNodeRoster({ ...options, now })
  const { entries } = roster
  const final = createFinalHeight(roster, { now, everyMs: finalEveryMs })
  const noteHead = createHeadRecord(roster, final, { ...options, now })
  const survey = createSurvey(roster, noteHead, options)
  const sources = createBlockSources<RosterEntry<N>>()
  const entryOf = (node: N) => entries.find((one) => one.node === node)
  let surveyedAt = now()
  let surveying: Promise<void> | null = null

  return {
    async use(work, demand = {}) {
      const { entry, answer } = await firstOf(roster, work, demand)
      roster.current = entry
      return answer
    },
    noteBlocks(node, from, to) {
      const entry = entryOf(node)
      if (entry !== undefined) sources.note(entry, from, to)
    },
    async disputed(transactions, query) {
      if (entries.length < 2 || transactions.length === 0) return new Set()
      return findDisputed(roster, sources, transactions, query)
    },
    voteOnFork: (block) => voteOnFork(roster, block),
    silence() {
      const present = entries.filter(({ health }) => !health.isDown && !health.isExcluded)
      const outdated = present.flatMap((entry) => outdatedNode(entry, final) ?? [])
      return {
        hosts: entries.flatMap(({ node, health }) => (health.isDown ? [node.host] : [])),
        failing: entries.flatMap(({ node, health }) => (health.isFailing ? [node.host] : [])),
        outdated,
        differing: entries.flatMap(({ node: { host }, health }) =>
          health.differsAt === null ? [] : [{ host, height: health.differsAt }],
        ),
        answering: present.length - outdated.length,
        unheard: entries.flatMap((entry) => (roster.patience.goesWithout(entry) ? [entry.node.host] : [])),
      }
    },
    final,
    async each(work, search, height) {
      const outcomes = await Promise.all(entries.map((entry) => outcomeOf(roster, entry, work, height)))
      const answers = outcomes.flatMap((one) => ('answer' in one ? [one.answer] : []))
      const awaited = answers.length === 0 ? failuresOf(outcomes) : roster.patience.awaited(search, outcomes)
      if (awaited.length > 0) throw worstOf(awaited)
      return answers
    },
    noteHead(node, height) {
      const entry = entryOf(node)
      if (entry !== undefined) noteHead(entry, height)
      if (entries.length < 2 || surveying !== null || now() - surveyedAt < SURVEY_MS) return
      surveyedAt = now()
      surveying = survey().finally(() => {
        surveying = null
      })
    },
    survey,
    async close() {
      await surveying
      await final.settled()
      await Promise.all(entries.map(({ node }) => node.close()))
    },
  }
}

type NoteHead<N extends PoolNode> = (entry: RosterEntry<N>, height: number) => void

/** Records heads, and which nodes stand still. */
function createHeadRecord<N extends PoolNode>(
  { entries }: NodeRoster<N>,
  final: FinalHeight<N>,
  { now, metrics, labels }: RpcPoolOptions<N> & { readonly now: () => number },
): NoteHead<N> {
  const progress = createProgress<RosterEntry<N>>(now)
  return (entry, height) => {
    entry.health.head = height
    // What an outvoted node claims makes no other one old.
    if (!entry.health.isOutvoted) progress.note(entry, height)
    for (const one of entries) {
      one.health.standsAt = progress.standsAt(one)
      one.health.isOutdated = outdatedNode(one, final) !== null
      metrics.gauge('scanner_node_outdated', one.health.isOutdated ? 1 : 0, { ...labels, provider: one.node.host })
    }
  }
}

function outdatedNode<N extends PoolNode>(entry: RosterEntry<N>, final: FinalHeight<N>): OutdatedNode | null {
  const { host } = entry.node
  const { standsAt } = entry.health
  if (standsAt !== null) return { host, block: 'newest', height: standsAt }
  const finalAt = final.standsAt(entry)
  return finalAt === null ? null : { host, block: 'final', height: finalAt }
}

function createSurvey<N extends PoolNode>(
  roster: NodeRoster<N>,
  noteHead: NoteHead<N>,
  { metrics, labels }: RpcPoolOptions<N>,
) {
  /** A block that no reorganisation reaches is put to the vote, so that neither the node in use nor another one goes on alone on a branch of its own. */
  async function compareSettled(inUse: RosterEntry<N>): Promise<void> {
    const height = inUse.health.head - SETTLED_DEPTH
    const hash = height < 0 ? null : await inUse.node.hashAt(height).catch(() => null)
    if (hash === null) return
    const { verdict, gone } = await compareBlock(roster, { height, hash })
    if (verdict === 'gone') roster.leaveOut(inUse)
    for (const entry of roster.entries) {
      const differs = gone.includes(entry)
      entry.health.differsAt = differs && verdict === 'disputed' ? height : null
      metrics.gauge('scanner_node_disagrees', differs ? 1 : 0, { ...labels, provider: entry.node.host })
    }
  }

  return async () => {
    const inUse = roster.current
    if (inUse === undefined) return
    const others = roster.entries.filter(
      (entry) => entry !== inUse && !entry.health.isPaused && !entry.health.isResting,
    )
    // Their failures are recorded in their health.
    await Promise.allSettled(
      others.map(async (entry) => noteHead(entry, await roster.attempt(entry, (node) => node.headHeight()))),
    )
    await compareSettled(inUse)
    const better = others.filter(({ health }) => !health.isExcluded && !health.isResting)
    const behindMax = inUse.health.standsAt === null ? LAG_MAX : 0
    const ahead = better.find(({ health }) => health.head > inUse.health.head + behindMax)
    if (ahead !== undefined && roster.current === inUse) roster.current = ahead
  }
}
