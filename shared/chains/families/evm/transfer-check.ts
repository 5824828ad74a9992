import type { AssetId } from '#shared/domain/enumerations.ts'
import { otherAmountKey } from '#shared/usecases/ports/payments.ts'
import {
  NodeUnreliable,
  type RawTransfer,
  type SeenTransaction,
  type WatchIndex,
} from '#shared/usecases/ports/scanning.ts'
import type { RpcNode } from '../../json-rpc.ts'
import { coinTransfers, loggedCoinMoves, nativeTransfers, tokenTransfers } from './extract.ts'
import { type Block, type Log, loggedReceiptSchema, transactionSchema } from './wire.ts'

type Transfer = NonNullable<SeenTransaction['transfer']>

/**
 * Asks one node whether a transaction stands, successful, in the block where it was seen and moved what was seen: the amount,
 * to whom, and of which token. Of coins inside of calls it asks for the transaction alone: few nodes trace. Throws
 * `NodeUnreliable` when the node contradicts itself.
 */
export function createTransferCheck(
  keyPrefix: string,
  coin: AssetId,
): (node: RpcNode, seen: SeenTransaction) => Promise<boolean> {
  return async (node, { txHash, blockHash, transfer }) => {
    const receipt = await node.call('eth_getTransactionReceipt', [txHash], loggedReceiptSchema.nullable())
    if (receipt === null) return false
    if (receipt.transactionHash !== txHash) throw new NodeUnreliable('the node gave the receipt of another transaction')
    if (receipt.blockHash !== blockHash || receipt.status !== '0x1') return false
    if (transfer === undefined || transfer.key.includes(`:${txHash}:i:`)) return true
    const block = { number: receipt.blockNumber, hash: blockHash }
    const found = transfer.key.startsWith(`${keyPrefix}:${txHash}:n`)
      ? await sentBy(node, { keyPrefix, coin }, { txHash, transfer, block })
      : loggedIn(receipt.logs, { keyPrefix, coin }, { txHash, transfer, block })
    return found.some((one) => isSame(one, transfer))
  }
}

interface Scope {
  readonly keyPrefix: string
  readonly coin: AssetId
}

interface Question {
  readonly txHash: string
  readonly transfer: Transfer
  readonly block: Pick<Block, 'number' | 'hash'>
}

async function sentBy(
  node: RpcNode,
  { keyPrefix, coin }: Scope,
  { txHash, transfer, block }: Question,
): Promise<readonly RawTransfer[]> {
  const sent = await node.call('eth_getTransactionByHash', [txHash], transactionSchema.nullable())
  if (sent?.blockHash !== block.hash || sent.hash !== txHash) return []
  const transactions = [{ ...sent, blockHash: block.hash }]
  return nativeTransfers(keyPrefix, blockOf(block, transactions), coin, only(transfer))
}

function loggedIn(
  logs: readonly Log[],
  { keyPrefix, coin }: Scope,
  { txHash, transfer, block }: Question,
): readonly RawTransfer[] {
  // Logs name their transaction's place in the block; of the others nothing is known here, nor asked.
  const places = Math.max(0, ...logs.map(({ transactionIndex }) => transactionIndex + 1))
  const one = { hash: txHash, blockHash: block.hash, from: '', value: '0x0' }
  const whole = blockOf(block, new Array<typeof one>(places).fill(one))
  const watches = only(transfer)
  return transfer.contract === null
    ? coinTransfers(keyPrefix, 'p', loggedCoinMoves(whole, logs), coin, watches)
    : tokenTransfers(keyPrefix, whole, logs, new Map([[transfer.contract.toLowerCase(), null]]), watches)
}

function blockOf(block: Pick<Block, 'number' | 'hash'>, transactions: Block['transactions']): Block {
  return { ...block, transactions, parentHash: '', timestamp: 0, logsBloom: '' }
}

const only = ({ matchKey }: Transfer): WatchIndex => ({ has: (key) => key === matchKey, add: () => {}, size: 1 })

function isSame({ key, amountBase }: RawTransfer, transfer: Transfer): boolean {
  if (amountBase !== transfer.amountBase) return false
  return key === transfer.key || otherAmountKey(key, amountBase) === transfer.key
}
