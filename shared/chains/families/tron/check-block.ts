import { sha256 } from '@noble/hashes/sha2.js'
import { NodeUnreliable } from '#shared/ports/scanning.ts'
import type { Block, Header, Transaction, TransactionInfo } from './wire.ts'

const HEIGHT_DIGITS = 16
/** Results without information: omitted by nodes, or written by the oldest ones. */
const UNSAID = new Set([undefined, 'DEFAULT'])

/** A successful transaction with its effects. */
export interface SuccessfulTransaction {
  readonly id: string
  readonly contracts: Block['transactions'][number]['raw_data']['contract']
  readonly info: TransactionInfo
}

/** Throws `NodeUnreliable` unless the header is the one of this height: the first eight bytes of a block id are its height. */
export function checkHeader(header: Header, height: number): void {
  const prefix = height.toString(16).padStart(HEIGHT_DIGITS, '0')
  if (header.block_header.raw_data.number !== height || !header.blockID.startsWith(prefix)) {
    throw new NodeUnreliable(`the node's block ${height} has another number in it`)
  }
}

/**
 * The transactions of a block that succeeded. Throws `NodeUnreliable` when block and transaction infos
 * disagree: an info without its transaction or the reverse, a duplicate, another block, or another outcome; and
 * when an id is not the hash of its transaction.
 */
export function successfulTransactions(
  block: Block,
  infos: readonly TransactionInfo[],
): readonly SuccessfulTransaction[] {
  const { number } = block.block_header.raw_data
  const refuse = (what: string) => new NodeUnreliable(`the node's block ${number}: ${what}`)
  const byId = new Map(infos.map((info) => [info.id, info]))
  const ids = new Set(block.transactions.map(({ txID }) => txID))
  if (byId.size !== infos.length || ids.size !== block.transactions.length) throw refuse('a transaction came twice')
  if (infos.length !== ids.size) throw refuse(`${ids.size} transactions and ${infos.length} infos`)
  return block.transactions.flatMap((transaction) => {
    const info = byId.get(transaction.txID)
    if (info === undefined) throw refuse('a transaction without info')
    return successfulTransaction(block, transaction, info) ?? []
  })
}

/**
 * One transaction of a block with this header, or null when it failed. Throws `NodeUnreliable` when its id is not its hash, or
 * its info is that of another transaction, of another block, or with another outcome.
 */
export function successfulTransaction(
  { block_header }: Header,
  { txID: id, raw_data, raw_data_hex, ret }: Transaction,
  info: TransactionInfo,
): SuccessfulTransaction | null {
  const { number, timestamp } = block_header.raw_data
  const refuse = (what: string) => new NodeUnreliable(`the node's block ${number}: ${what}`)
  if (Buffer.from(sha256(Buffer.from(raw_data_hex, 'hex'))).toString('hex') !== id) {
    throw refuse('an id is not the hash of its transaction')
  }
  if (info.id !== id) throw refuse('the info of another transaction')
  if (info.blockNumber !== number || info.blockTimeStamp !== timestamp) throw refuse('an info of another block')
  const outcome = ret[0]?.contractRet
  const reported = info.receipt.result
  const contradicts = !UNSAID.has(reported) && !UNSAID.has(outcome) && reported !== outcome
  if (contradicts || (outcome === 'SUCCESS' && info.result === 'FAILED')) {
    throw refuse('two outcomes of a transaction')
  }
  return outcome === 'SUCCESS' ? { id, contracts: raw_data.contract, info } : null
}
