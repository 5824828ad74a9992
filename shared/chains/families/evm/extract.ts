import type { AssetId } from '#shared/domain/enumerations.ts'
import type { RawTransfer } from '#shared/ports/scanned-blocks.ts'
import { NodeUnreliable, type WatchIndex } from '#shared/ports/scanning.ts'
import { checksumAddress } from './address.ts'
import type { Block, Log } from './wire.ts'

/** keccak256("Transfer(address,address,uint256)"), EIP-20. */
export const TRANSFER_TOPIC = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef'

/** The contract at which Polygon logs every native transfer, also inside calls (Bor, `core/evm.go`). */
export const SYSTEM_COIN = '0x0000000000000000000000000000000000001010'

/** keccak256("LogTransfer(address,address,address,uint256,uint256,uint256,uint256,uint256)"), of that contract. */
export const COIN_TRANSFER_TOPIC = '0xe6497e3ee548a3372136af2fcb0696db31fc6cf20260707645068bd3fe97f3c4'

/** `0x` and one 32-byte word. */
const WORD_LENGTH = 66
/** `0x` and the words of a native transfer log: amount, both balances before and after. */
const COIN_DATA_LENGTH = 2 + 5 * 64

/** Meaning of the contracts of a network: lower-case address → asset, or null for a sibling that is never credited. */
export type TokenTable = ReadonlyMap<string, AssetId | null>

/**
 * Transfers of known tokens to watched addresses, of one block. Only the contract identifies a token; logs with four
 * topics (EIP-721), other data than one word, or value 0 (address poisoning) move no money. Keys do not contain the log's
 * index, which changes when a transaction is mined again elsewhere: equal transfers of one transaction are numbered instead.
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
  const number = createNumbering()
  const found: RawTransfer[] = []
  for (const log of inOrder(logs)) {
    const contract = log.address.toLowerCase()
    const asset = tokens.get(contract)
    const moved = decodeTransfer(log)
    if (asset === undefined || moved === null || !watches.has(moved.to)) continue
    found.push({
      key: number(`${keyPrefix}:${log.transactionHash}:t:${contract}:0x${moved.from}:0x${moved.to}:${moved.value}`),
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

/** A native transfer. Addresses are lower-case hex without `0x`. */
export interface CoinMove {
  readonly txHash: string
  readonly from: string
  readonly to: string
  readonly value: bigint
}

/**
 * Native transfers to watched addresses, in order of execution. `p` in the key shows that the network logged them. Equal transfers of one
 * transaction are numbered, so the key is the same whichever node returned them.
 */
export function coinTransfers(
  keyPrefix: string,
  moves: readonly CoinMove[],
  asset: AssetId,
  watches: WatchIndex,
): readonly RawTransfer[] {
  const number = createNumbering()
  return moves
    .filter(({ from, to, value }) => value > 0n && from !== to && watches.has(to))
    .map(({ txHash, from, to, value }) => ({
      key: number(`${keyPrefix}:${txHash}:p:0x${from}:0x${to}:${value}`),
      matchKey: to,
      toAddress: checksumAddress(to),
      fromAddress: checksumAddress(from),
      asset,
      contract: null,
      amountBase: value,
      txHash,
      outputIndex: null,
    }))
}

/** Native transfers that the network logs itself; logs of fees are other events. Throws as `tokenTransfers` does. */
export function loggedCoinMoves(block: Block, logs: readonly Log[]): readonly CoinMove[] {
  checkLogs(block, logs)
  return inOrder(logs).flatMap((log) => {
    const [topic, , from, to] = log.topics
    if (log.address.toLowerCase() !== SYSTEM_COIN || topic !== COIN_TRANSFER_TOPIC) return []
    if (from === undefined || to === undefined || log.data.length !== COIN_DATA_LENGTH) return []
    const value = BigInt(log.data.slice(0, WORD_LENGTH))
    return { txHash: log.transactionHash, from: from.slice(-40), to: to.slice(-40), value }
  })
}

/**
 * Native value sent to watched addresses directly by the block's transactions. The block does not show whether each succeeded:
 * the caller reads the receipt. A transaction that creates a contract pays no watched address.
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
    if (amountBase === 0n || transaction.from.slice(2).toLowerCase() === matchKey) return []
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

/** What a log of a token moves: null for other events, other forms and nothing. */
export function decodeTransfer(log: Log): { from: string; to: string; value: bigint } | null {
  const [topic, from, to] = log.topics
  if (topic !== TRANSFER_TOPIC || from === undefined || to === undefined || log.topics.length !== 3) return null
  if (log.data.length !== WORD_LENGTH) return null
  const value = BigInt(log.data)
  const moved = { from: from.slice(-40), to: to.slice(-40), value }
  // A transfer of an account to itself is not a gain.
  return value === 0n || moved.from === moved.to ? null : moved
}

/** Appends to a text how often it occurred before. */
function createNumbering(): (text: string) => string {
  const counts = new Map<string, number>()
  return (text) => {
    const count = counts.get(text) ?? 0
    counts.set(text, count + 1)
    return `${text}:${count}`
  }
}

function inOrder(logs: readonly Log[]): readonly Log[] {
  return logs.toSorted((a, b) => a.transactionIndex - b.transactionIndex || a.logIndex - b.logIndex)
}

/** Logs of another block, of no transaction of it, withdrawn or duplicated: the node does not show one state of the chain. */
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
