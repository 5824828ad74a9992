import type { AssetId } from '#shared/domain/enumerations.ts'
import type { RawTransfer } from '#shared/ports/scanned-blocks.ts'
import { NodeUnreliable, type SeenTransaction } from '#shared/ports/scanning.ts'
import type { RpcNode } from '../../nodes/json-rpc.ts'
import { mapConcurrently } from '../../nodes/map-concurrently.ts'
import { onlyReceiver, type SeenTransfer, showsTransfer } from '../../nodes/same-transfer.ts'
import { coinTransfers, loggedCoinMoves, nativeTransfers, SYSTEM_COIN, tokenTransfers } from './extract.ts'
import { type Block, type Log, loggedReceiptSchema, logsSchema, transactionSchema } from './wire.ts'

/** Concurrent requests. */
const CONCURRENCY = 4

/**
 * Checks transactions of one block with one node: returns the ids of those that it does not show, successful, in it,
 * or whose amount, receiver or token there differs. Throws `NodeUnreliable` when the node contradicts itself.
 */
export function createTransferCheck(
  keyPrefix: string,
  coin: AssetId,
): (node: RpcNode, seen: readonly SeenTransaction[]) => Promise<readonly string[]> {
  async function isShown(node: RpcNode, { txHash, blockHash, transfer }: SeenTransaction) {
    const receipt = await node.call('eth_getTransactionReceipt', [txHash], loggedReceiptSchema.nullable())
    const mayBeUnlisted = ['p', 't'].some((part) => transfer?.key.startsWith(`${keyPrefix}:${txHash}:${part}:`))
    if (receipt === null) {
      if (transfer === undefined || !mayBeUnlisted) return false
      return isLogged(node, { keyPrefix, coin }, { txHash, blockHash, transfer })
    }
    if (receipt.transactionHash !== txHash) throw new NodeUnreliable('the node gave the receipt of another transaction')
    if (receipt.blockHash !== blockHash || receipt.status !== '0x1') return false
    if (transfer === undefined) return true
    const scope = { keyPrefix, coin }
    const block = { number: receipt.blockNumber, hash: blockHash }
    const found = transfer.key.startsWith(`${keyPrefix}:${txHash}:n`)
      ? await sentBy(node, scope, { txHash, transfer, block })
      : loggedIn(receipt.logs, scope, { txHash, transfer, block })
    return showsTransfer(found, transfer)
  }

  return async (node, seen) => {
    const answers = await mapConcurrently(seen, CONCURRENCY, async (one) =>
      (await isShown(node, one)) ? [] : [one.txHash],
    )
    return answers.flat()
  }
}

interface Scope {
  readonly keyPrefix: string
  readonly coin: AssetId
}

interface Question {
  readonly txHash: string
  readonly transfer: SeenTransfer
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
  return nativeTransfers(keyPrefix, blockOf(block, transactions), coin, onlyReceiver(transfer))
}

/** Nodes that do not list a state-sync transaction may lack its receipt too; its logs are in the block all the same. */
async function isLogged(
  node: RpcNode,
  scope: Scope,
  {
    txHash,
    blockHash,
    transfer,
  }: { readonly txHash: string; readonly blockHash: string; readonly transfer: SeenTransfer },
): Promise<boolean> {
  const question = { blockHash, address: transfer.contract ?? SYSTEM_COIN }
  const logs = await node.call('eth_getLogs', [question], logsSchema)
  const own = logs.filter((log) => log.transactionHash === txHash && log.blockHash === blockHash)
  const [first] = own
  if (first === undefined) return false
  const block = { number: first.blockNumber, hash: blockHash }
  return showsTransfer(loggedIn(own, scope, { txHash, transfer, block }), transfer)
}

function loggedIn(
  logs: readonly Log[],
  { keyPrefix, coin }: Scope,
  { txHash, transfer, block }: Question,
): readonly RawTransfer[] {
  // The other transactions of the block are neither known nor needed here: this one is the first.
  const own = logs.map((log) => ({ ...log, transactionIndex: 0 }))
  const whole = blockOf(block, [{ hash: txHash, blockHash: block.hash, from: '', value: '0x0' }])
  const watches = onlyReceiver(transfer)
  return transfer.contract === null
    ? coinTransfers(keyPrefix, loggedCoinMoves(whole, own), coin, watches)
    : tokenTransfers(keyPrefix, whole, own, new Map([[transfer.contract.toLowerCase(), null]]), watches)
}

function blockOf(block: Pick<Block, 'number' | 'hash'>, transactions: Block['transactions']): Block {
  return { ...block, transactions, parentHash: '', timestamp: 0, logsBloom: '' }
}
