import type { ChainClient } from '#shared/ports/scanning.ts'
import type { OutputChainRules } from '../../definitions/chain.ts'
import { RpcFailure } from '../../nodes/rpc-failure.ts'
import type { CoreNode } from './core-rpc.ts'
import { hashText } from './double-sha256.ts'
import { parseBlock } from './parse-block.ts'

/** A node that does not find the reward of this block, which it surely has, keeps no index of mined transactions. */
const INDEXED_FROM = 1

/**
 * Where a node of the Bitcoin family has a transaction. What it does not find may be mined all the same: only one that
 * indexes all transactions (`-txindex`) can tell, and whether it does is found out by a transaction that exists.
 */
export async function locateTransaction(
  node: CoreNode,
  rules: OutputChainRules,
  txid: string,
): ReturnType<NonNullable<ChainClient['locate']>> {
  const blockHash = await node.blockOf(txid)
  if (blockHash === null) return (await indexesTransactions(node, rules)) ? null : 'not_searchable'
  if (blockHash === 'unconfirmed') return 'unconfirmed'
  const height = await node.heightOf(blockHash)
  // Mined on a branch that lost is mined nowhere.
  return height === null ? null : { height, blockHash, succeeded: true }
}

async function indexesTransactions(node: CoreNode, rules: OutputChainRules): Promise<boolean> {
  const hash = await node.hashAt(INDEXED_FROM)
  if (hash === null) return true
  try {
    const { transactions } = parseBlock(await node.block(hash), { height: INDEXED_FROM, hash }, rules)
    const [reward] = transactions
    return reward !== undefined && (await node.blockOf(hashText(reward.hash))) === hash
  } catch (error) {
    // Pruned nodes have no early blocks; they cannot keep an index either.
    if (error instanceof RpcFailure && (error.kind === 'refused' || error.kind === 'absent')) return false
    throw error
  }
}
