import { type ChainClient, NodeUnreliable } from '#shared/ports/scanning.ts'
import type { TronNode } from './api.ts'
import { maybeBlockSchema, maybeInfoSchema } from './wire.ts'

/** The block of a transaction and its outcome, from the block itself. Most providers do not return unmined transactions. */
export async function locateTransaction(
  node: Pick<TronNode, 'call'>,
  txHash: string,
): ReturnType<NonNullable<ChainClient['locate']>> {
  const info = await node.call('wallet/gettransactioninfobyid', { value: txHash }, maybeInfoSchema)
  if (info === null) return null
  if (info.id !== txHash) throw new NodeUnreliable('the node gave the info of another transaction')
  const height = info.blockNumber
  const block = await node.call('wallet/getblockbynum', { num: height }, maybeBlockSchema)
  const found = block?.transactions.find(({ txID }) => txID === txHash)
  if (block === null || found === undefined) {
    throw new NodeUnreliable(`the node's block ${height} does not hold a transaction that it puts there`)
  }
  return { height, blockHash: block.blockID, succeeded: found.ret[0]?.contractRet === 'SUCCESS' }
}
