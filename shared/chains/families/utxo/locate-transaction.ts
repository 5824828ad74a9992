import type { ChainClient } from '#shared/ports/scanning.ts'
import type { OutputChainRules } from '../../definitions/chain.ts'
import { RpcDenial } from '../../nodes/rpc-failure.ts'
import { isRefusal } from '../../nodes/unless-refused.ts'
import type { CoreNode } from './core-rpc.ts'
import { hashText } from './double-sha256.ts'
import { parseBlock } from './parse-block.ts'

/** A node that does not find the reward of this block, which it must have, has no index of mined transactions. */
const INDEXED_FROM = 1

/**
 * Where a node of the Bitcoin family has a transaction. A transaction it does not find may still be mined: only a node that
 * indexes all transactions (`-txindex`) can tell, which is tested with a transaction that exists.
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
  // A transaction mined only on a losing branch is not mined.
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
    // Pruned nodes have no early blocks; they cannot have an index either.
    if (isRefusal(error) || error instanceof RpcDenial) return false
    throw error
  }
}
