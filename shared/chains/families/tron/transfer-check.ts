import { NodeUnreliable, type SeenTransaction } from '#shared/ports/scanning.ts'
import { mapConcurrently } from '../../nodes/map-concurrently.ts'
import { onlyReceiver, type SeenTransfer, showsTransfer } from '../../nodes/same-transfer.ts'
import type { TronNode } from './api.ts'
import { listBlock } from './block-parts.ts'
import type { SuccessfulTransaction } from './check-block.ts'
import { type ExtractContext, extractTransfers } from './extract.ts'
import type { InternalRecord } from './internal-record.ts'
import { readBlocks } from './read-blocks.ts'
import { maybeBlockSchema } from './wire.ts'

/** Transactions read at the same time. */
const CONCURRENCY = 4

/**
 * Checks transactions of one block with one node: returns the ids of those that it does not show, successful, in it,
 * or whose transfer there differs. Two requests, the block read as the scan reads it; where
 * the node does not return it so, the transactions are read alone. Internal
 * transfers are compared where the node is known to record them; elsewhere their transaction is enough. Throws
 * `NodeUnreliable` when the node contradicts itself.
 */
export function createTransferCheck(
  scope: Omit<ExtractContext, 'watches'>,
  internals: InternalRecord,
): (node: TronNode, seen: readonly SeenTransaction[]) => Promise<readonly string[]> {
  const isShown = (node: TronNode, transaction: SuccessfulTransaction, transfer: SeenTransfer): boolean => {
    const isInside = transfer.key.startsWith(`${scope.keyPrefix}:${transaction.id}:i:`)
    if (isInside && !internals.isSeeing(node)) return true
    return showsTransfer(extractTransfers(transaction, { ...scope, watches: onlyReceiver(transfer) }), transfer)
  }

  return async (node, seen) => {
    const [first] = seen
    if (first === undefined) return []
    const wantedHashes = new Set(seen.map(({ blockHash }) => blockHash))
    const wantedIds = new Set(seen.map(({ txHash }) => txHash))
    const shown = await transactionsAt(node, first.height, wantedHashes, wantedIds)
    internals.note(node, [...shown.transactions.values()])
    const isSame = ({ txHash, blockHash, transfer }: SeenTransaction): boolean => {
      const transaction = blockHash === shown.hash ? shown.transactions.get(txHash) : undefined
      return transaction !== undefined && (transfer === undefined || isShown(node, transaction, transfer))
    }
    return seen.filter((one) => !isSame(one)).map(({ txHash }) => txHash)
  }
}

interface BlockTransactions {
  readonly hash: string | null
  readonly transactions: ReadonlyMap<string, SuccessfulTransaction>
}

const NOTHING: BlockTransactions = { hash: null, transactions: new Map() }

/** Successful transactions of a node's block, when it is one of these: at least those of `ids`. */
async function transactionsAt(
  node: TronNode,
  height: number,
  hashes: ReadonlySet<string>,
  ids: ReadonlySet<string>,
): Promise<BlockTransactions> {
  try {
    const block = await node.call('wallet/getblockbynum', { num: height }, maybeBlockSchema)
    if (block === null || !hashes.has(block.blockID)) return NOTHING
    const [read] = await readBlocks(node, height, height, block)
    return { hash: block.blockID, transactions: new Map(read?.successful.map((one) => [one.id, one])) }
  } catch (error) {
    if (!(error instanceof NodeUnreliable)) throw error
    return listedTransactionsAt(node, height, hashes, ids)
  }
}

/** The same from a block that this node does not return as usual, without the transactions that are not needed. */
async function listedTransactionsAt(
  node: TronNode,
  height: number,
  hashes: ReadonlySet<string>,
  ids: ReadonlySet<string>,
): Promise<BlockTransactions> {
  const listed = await listBlock(node, height)
  if (!hashes.has(listed.header.blockID)) return NOTHING
  const present = listed.ids.filter((id) => ids.has(id))
  const read = await mapConcurrently(present, CONCURRENCY, listed.read)
  const successful = read.filter((one) => one !== null)
  return { hash: listed.header.blockID, transactions: new Map(successful.map((one) => [one.id, one])) }
}
