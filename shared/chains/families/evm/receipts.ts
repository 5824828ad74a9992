import type { RawTransfer, Spending } from '#shared/ports/scanned-blocks.ts'
import type { RpcNode } from '../../nodes/json-rpc.ts'
import { RpcFailure } from '../../nodes/rpc-failure.ts'
import { type Block, type Receipt, receiptSchema } from './wire.ts'

const RECEIPT = 'eth_getTransactionReceipt'

/** A transaction's receipt; null when the node has none. Throws `NodeUnreliable` when it is another transaction's. */
export async function readReceipt(node: RpcNode, txHash: string): Promise<Receipt | null> {
  const receipt = await node.call(RECEIPT, [txHash], receiptSchema.nullable())
  if (receipt !== null && receipt.transactionHash !== txHash) {
    throw contradiction('the node gave the receipt of another transaction')
  }
  return receipt
}

/** Drops transfers of reverted transactions: they are in their block like any other, but moved nothing. */
export async function successful(
  node: RpcNode,
  blockHash: string,
  transfers: readonly RawTransfer[],
): Promise<readonly RawTransfer[]> {
  const kept: RawTransfer[] = []
  for (const transfer of transfers) {
    const receipt = await receiptIn(node, blockHash, transfer.txHash)
    if (receipt.status === '0x1') kept.push(transfer)
  }
  return kept
}

/** Amounts that accounts spent in a block by their own transactions; a failed one costs its fee, and a transfer to itself costs nothing else. */
export async function spendingOf(
  node: RpcNode,
  block: Block,
  accounts: Pick<ReadonlySet<string>, 'has'>,
): Promise<ReadonlyMap<string, Spending>> {
  const spending = new Map<string, Spending>()
  for (const { hash, from, to, value } of block.transactions) {
    const account = from.slice(2).toLowerCase()
    if (!accounts.has(account)) continue
    const receipt = await receiptIn(node, block.hash, hash)
    const leaves = receipt.status === '0x1' && to?.slice(2).toLowerCase() !== account
    const fee = feeOf(receipt)
    const { spentBase, feesBase } = spending.get(account) ?? { spentBase: 0n, feesBase: 0n }
    spending.set(account, {
      spentBase: spentBase + fee + (leaves ? BigInt(value) : 0n),
      feesBase: feesBase + fee,
    })
  }
  return spending
}

function feeOf({ gasUsed, effectiveGasPrice, blobGasUsed, blobGasPrice, l1Fee }: Receipt): bigint {
  const product = (used = '0x0', price = '0x0') => BigInt(used) * BigInt(price)
  return product(gasUsed, effectiveGasPrice) + product(blobGasUsed, blobGasPrice) + BigInt(l1Fee ?? '0x0')
}

async function receiptIn(node: RpcNode, blockHash: string, txHash: string): Promise<Receipt> {
  const receipt = await readReceipt(node, txHash)
  if (receipt === null) throw contradiction('the node has no receipt of a transaction in its block')
  if (receipt.blockHash !== blockHash) throw contradiction('the receipt of a transaction names another block')
  return receipt
}

const contradiction = (message: string) => new RpcFailure('retry', message, { method: RECEIPT })
