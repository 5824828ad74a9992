import { NodeMismatch, NodeUnreliable, type SeenTransaction } from '#shared/ports/scanning.ts'
import type { BlockSources } from './block-sources.ts'
import type { NodeRoster, RosterEntry } from './node-roster.ts'
import { worstOf } from './node-roster.ts'
import type { PoolNode } from './pool-node.ts'

/** Queries one node about transactions of one block; returns the ids of those that it does not show, successful, in that block. */
export type NodeQuery<N> = (node: N, transactions: readonly SeenTransaction[]) => Promise<Iterable<string>>

/** A node that gave no response so often, or failed so often in any way, is not asked further in this turn: how much is due is a stranger's choice. */
const SILENCES_MAX = 3
const FAILURES_MAX = 16
/** Transactions of one block in a question: what a node with a small quota has said of some stands when it is asked for a pause at the next. */
const TOGETHER_MAX = 16

interface OpenQuestion<N extends PoolNode> {
  readonly transaction: SeenTransaction
  readonly source: RosterEntry<N> | undefined
  /** Nodes that still have to confirm. */
  missing: number
}

/**
 * Ids of the transactions that two nodes do not confirm, where a network has two on our chain:
 *
 * | source of the block | nodes that must show the transaction in it |
 * |---|---|
 * | a node of this pool | one other node |
 * | unknown: another process scanned it, several nodes returned it, or it is long ago | two nodes |
 *
 * Further denials do not matter: one node alone can invent nothing, and where there are three it cannot hold anything up. What a node cannot say of
 * one transaction, because it dropped the block or its sender made it too large, holds up no other.
 * Throws `NodeUnreliable` when no node responded that could have confirmed.
 */
export async function findDisputed<N extends PoolNode>(
  roster: NodeRoster<N>,
  sources: BlockSources<RosterEntry<N>>,
  transactions: readonly SeenTransaction[],
  query: NodeQuery<N>,
): Promise<ReadonlySet<string>> {
  const questions = transactions.map((transaction): OpenQuestion<N> => {
    const source = sources.of(transaction.height)
    return { transaction, source, missing: source === undefined ? 2 : 1 }
  })
  const failures: unknown[] = []
  let answers = 0
  for (const entry of roster.candidates()) {
    const open = questions.filter(({ missing, source }) => missing > 0 && source !== entry)
    if (open.length === 0 || entry.health.isOutvoted) continue
    // The newest first: what waits for long because nobody can say anything about it does not take their turn.
    const heights = [...new Set(open.map(({ transaction }) => transaction.height))].sort((one, other) => other - one)
    let parts = heights.flatMap((height) => partsOf(open.filter(({ transaction }) => transaction.height === height)))
    let [failed, silent] = [0, 0]
    for (let part = parts.shift(); part !== undefined; part = parts.shift()) {
      try {
        await putTo(roster, entry, part, query)
        answers += 1
      } catch (error) {
        if (!(error instanceof NodeUnreliable || error instanceof NodeMismatch)) throw error
        failures.push(error)
        if (error instanceof NodeMismatch || error.isAway || entry.health.isPaused) break
        failed += 1
        if (error.isSilent) silent += 1
        if (failed >= FAILURES_MAX || silent >= SILENCES_MAX) break
        // A block that was dropped is gone for all of its transactions.
        if (error.isGone) parts = parts.filter(([first]) => first?.transaction.height !== part?.[0]?.transaction.height)
        else if (part.length > 1) parts.push(...part.map((question) => [question]))
      }
    }
  }
  const disputed = questions.filter(({ missing }) => missing > 0).map(({ transaction }) => transaction.txHash)
  const strangers = failures.filter((failure) => failure instanceof NodeMismatch).length
  // A node on another chain does not count.
  if (disputed.length === 0 || roster.entries.length - strangers < 2) return new Set()
  if (answers === 0) throw worstOf(failures)
  return new Set(disputed)
}

function partsOf<T>(questions: readonly T[]): T[][] {
  const count = Math.ceil(questions.length / TOGETHER_MAX)
  return Array.from({ length: count }, (_, part) => questions.slice(part * TOGETHER_MAX, (part + 1) * TOGETHER_MAX))
}

async function putTo<N extends PoolNode>(
  roster: NodeRoster<N>,
  entry: RosterEntry<N>,
  open: readonly OpenQuestion<N>[],
  query: NodeQuery<N>,
): Promise<void> {
  const transactions = open.map(({ transaction }) => transaction)
  const height = Math.max(...transactions.map((transaction) => transaction.height))
  const denied = new Set(await roster.attempt(entry, (node) => query(node, transactions), height))
  for (const question of open) if (!denied.has(question.transaction.txHash)) question.missing -= 1
}
