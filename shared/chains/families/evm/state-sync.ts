import { keccak_256 } from '@noble/hashes/sha3.js'
import type { Block, Log } from './wire.ts'

const NOBODY = `0x${'0'.repeat(40)}`
/** Bor, `core/types/bor_receipt.go`: key of the receipt of a block's state-sync transaction. */
const RECEIPT_PREFIX = Buffer.from('matic-bor-receipt-', 'ascii')

/**
 * The block with the transaction after its last one that logs refer to and nodes do not list: Bor returns the logs of state synced
 * from Ethereum to Polygon under a separate transaction (maticnetwork/bor#1654). It sends nothing itself. The block is unchanged
 * when its logs name several such transactions, or one at another place: the check of logs refuses those.
 */
export function withStateSync(block: Block, logs: readonly Log[]): Block {
  const index = block.transactions.length
  const hashes = new Set(logs.filter((log) => log.transactionIndex === index).map((log) => log.transactionHash))
  const [hash] = hashes
  const isListed = block.transactions.some((transaction) => transaction.hash === hash)
  if (hash === undefined || hashes.size > 1 || isListed) return block
  const transaction = { hash, blockHash: block.hash, from: NOBODY, to: null, value: '0x0' }
  return { ...block, transactions: [...block.transactions, transaction] }
}

/** Id under which Bor stores the receipt of a block's state-sync transaction (`GetDerivedBorTxHash`). */
export function stateSyncHash({ number, hash }: Pick<Block, 'number' | 'hash'>): string {
  const height = Buffer.alloc(8)
  height.writeBigUInt64BE(BigInt(number))
  const key = Buffer.concat([RECEIPT_PREFIX, height, Buffer.from(hash.slice(2), 'hex')])
  return `0x${Buffer.from(keccak_256(key)).toString('hex')}`
}
