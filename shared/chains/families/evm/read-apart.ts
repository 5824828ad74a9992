import { NodeUnreliable } from '#shared/ports/scanning.ts'
import { ignoreUnclear } from '../../nodes/ignore-unclear.ts'
import type { RpcNode } from '../../nodes/json-rpc.ts'
import { mapConcurrently } from '../../nodes/map-concurrently.ts'
import { createBloom } from './bloom.ts'
import { type LogFilter, takesLog } from './read-logs.ts'
import { toQuantity } from './rpc.ts'
import { stateSyncHash } from './state-sync.ts'
import { type Block, blockRefsSchema, type Log, loggedReceiptSchema, transactionSchema } from './wire.ts'

/** Concurrent requests. */
const CONCURRENCY = 8
/** With more unparsable transactions than this, the node is at fault and not the block. */
const UNPARSED_MAX = 16
const NOBODY = `0x${'0'.repeat(40)}`

/** A block whose transactions were requested one by one. */
export interface BlockApart {
  /** An unreadable transaction is represented without sender, receiver and value. */
  readonly block: Block
  /** Ids of the unreadable transactions. */
  readonly unparsed: readonly string[]
}

/** Reads a block by its header and each of its transactions. Throws `NodeUnreliable` when the node does not have it. */
export async function readBlockApart(node: RpcNode, height: number): Promise<BlockApart> {
  const refs = await node.call('eth_getBlockByNumber', [toQuantity(height), false], blockRefsSchema.nullable())
  if (refs === null) throw new NodeUnreliable(`the node has no block ${height}`)
  if (refs.number !== height) throw new NodeUnreliable(`the node's block ${height} contradicts itself`)
  const unparsed = new Set<string>()
  const transactions = await mapConcurrently(refs.transactions, CONCURRENCY, async (hash) => {
    const transaction = await readTransaction(node, hash, refs.hash)
    if (transaction === null) unparsed.add(hash)
    if (unparsed.size > UNPARSED_MAX) throw new NodeUnreliable(`most transactions of block ${height} cannot be read`)
    return transaction ?? { hash, blockHash: refs.hash, from: NOBODY, to: null, value: '0x0' }
  })
  return {
    block: { ...refs, transactions: [...transactions] },
    unparsed: refs.transactions.filter((hash) => unparsed.has(hash)),
  }
}

/** Null when the node returns no readable transaction. */
async function readTransaction(
  node: RpcNode,
  hash: string,
  blockHash: string,
): Promise<Block['transactions'][number] | null> {
  const found = await ignoreUnclear(node.call('eth_getTransactionByHash', [hash], transactionSchema.nullable()))
  return found?.hash === hash && found.blockHash === blockHash ? { ...found, blockHash } : null
}

/**
 * The logs of a filter in one block, from the receipts of its transactions. Throws `NodeUnreliable` when a receipt is missing
 * or the receipts together do not cover the block's bloom filter, so that no log is missing unnoticed. `syncsState`: the
 * network has state-sync transactions, whose logs are in no bloom filter.
 */
export async function readLogsApart(
  node: RpcNode,
  block: Block,
  filter: LogFilter,
  syncsState: boolean,
): Promise<readonly Log[]> {
  const bloom = createBloom()
  const found = await mapConcurrently(block.transactions, CONCURRENCY, async ({ hash }) => {
    const logs = await logsOf(node, block, hash)
    if (logs === null) throw new NodeUnreliable(`the node has no receipt of transaction ${hash} in its block`)
    bloom.add(logs)
    return logs.filter((log) => takesLog(filter, log))
  })
  if (!bloom.covers(Buffer.from(block.logsBloom.slice(2), 'hex'))) {
    throw new NodeUnreliable(`the receipts of block ${block.number} lack logs that its header announces`)
  }
  const synced = syncsState ? ((await logsOf(node, block, stateSyncHash(block))) ?? []) : []
  return [...found.flat(), ...synced.filter((log) => takesLog(filter, log))]
}

async function logsOf(node: RpcNode, block: Block, txHash: string): Promise<readonly Log[] | null> {
  const receipt = await node.call('eth_getTransactionReceipt', [txHash], loggedReceiptSchema.nullable())
  if (receipt === null) return null
  if (receipt.transactionHash !== txHash || receipt.blockHash !== block.hash) {
    throw new NodeUnreliable(`the node gave a receipt of another transaction or block for ${txHash}`)
  }
  return receipt.logs
}
