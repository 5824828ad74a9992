import type { AssetId } from '#shared/domain/enumerations.ts'
import { NodeUnreliable, type RawTransfer, type WatchIndex } from '#shared/usecases/ports/scanning.ts'
import { checksumAddress } from './address.ts'
import type { Block, Log } from './wire.ts'

/** keccak256("Transfer(address,address,uint256)"), EIP-20. */
export const TRANSFER_TOPIC = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef'

/** `0x` and one 32-byte word. */
const WORD_LENGTH = 66

/** What the contracts of a network mean to us: lower-case address → asset, or null for a sibling that is never credited. */
export type TokenTable = ReadonlyMap<string, AssetId | null>

/**
 * Transfers of known tokens to watched addresses, of one block. A token is known by its contract alone; logs with four
 * topics (EIP-721), other data than one word, or value 0 (address poisoning) move no money. Keys do not hold the log's
 * index, which changes when a transaction is mined again elsewhere: equal transfers of one transaction are counted instead.
 * Throws `NodeUnreliable` when a log does not belong to the block.
 */
export function tokenTransfers(
  keyPrefix: string,
  block: Block,
  logs: readonly Log[],
  tokens: TokenTable,
  watches: WatchIndex,
): readonly RawTransfer[] {
  checkLogs(block, logs)
  const equals = new Map<string, number>()
  const found: RawTransfer[] = []
  for (const log of [...logs].sort((a, b) => a.logIndex - b.logIndex)) {
    const contract = log.address.toLowerCase()
    const asset = tokens.get(contract)
    const moved = decodeTransfer(log)
    if (asset === undefined || moved === null || !watches.has(moved.to)) continue
    const tuple = `${log.transactionHash}:t:${contract}:0x${moved.from}:0x${moved.to}:${moved.value}`
    const ordinal = equals.get(tuple) ?? 0
    equals.set(tuple, ordinal + 1)
    found.push({
      key: `${keyPrefix}:${tuple}:${ordinal}`,
      matchKey: moved.to,
      toAddress: checksumAddress(moved.to),
      fromAddress: checksumAddress(moved.from),
      asset,
      contract: checksumAddress(contract),
      amountBase: moved.value,
      txHash: log.transactionHash,
      outputIndex: null,
    })
  }
  return found
}

/**
 * Native value sent to watched addresses by the block's transactions themselves. Whether each succeeded is not in the
 * block: the caller asks for the receipt. A transaction that creates a contract pays nobody we watch.
 */
export function nativeTransfers(
  keyPrefix: string,
  block: Block,
  asset: AssetId,
  watches: WatchIndex,
): readonly RawTransfer[] {
  return block.transactions.flatMap((transaction) => {
    const matchKey = transaction.to?.slice(2).toLowerCase()
    if (matchKey === undefined || !watches.has(matchKey)) return []
    const amountBase = BigInt(transaction.value)
    if (amountBase === 0n) return []
    return {
      key: `${keyPrefix}:${transaction.hash}:n`,
      matchKey,
      toAddress: checksumAddress(matchKey),
      fromAddress: checksumAddress(transaction.from),
      asset,
      contract: null,
      amountBase,
      txHash: transaction.hash,
      outputIndex: null,
    }
  })
}

function decodeTransfer(log: Log): { from: string; to: string; value: bigint } | null {
  const [topic, from, to] = log.topics
  if (topic !== TRANSFER_TOPIC || from === undefined || to === undefined || log.topics.length !== 3) return null
  if (log.data.length !== WORD_LENGTH) return null
  const value = BigInt(log.data)
  return value === 0n ? null : { from: from.slice(-40), to: to.slice(-40), value }
}

/** Logs of another block, of no transaction of it, withdrawn or doubled: the node does not show one state of the chain. */
function checkLogs(block: Block, logs: readonly Log[]): void {
  const seen = new Set<number>()
  for (const log of logs) {
    if (log.removed === true || log.blockHash !== block.hash || log.blockNumber !== block.number) {
      throw new NodeUnreliable(`a log of block ${block.number} belongs to another block`)
    }
    if (block.transactions[log.transactionIndex]?.hash !== log.transactionHash) {
      throw new NodeUnreliable(`a log of block ${block.number} belongs to no transaction of it`)
    }
    if (seen.has(log.logIndex)) throw new NodeUnreliable(`a log of block ${block.number} came twice`)
    seen.add(log.logIndex)
  }
}
