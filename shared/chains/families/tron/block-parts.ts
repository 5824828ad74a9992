import { NodeUnreliable } from '#shared/ports/scanning.ts'
import { RpcFailure } from '../../nodes/rpc-failure.ts'
import type { TronNode } from './api.ts'
import { checkHeader, type SuccessfulTransaction, successfulTransaction } from './check-block.ts'
import {
  type Block,
  countSchema,
  type Header,
  headerSchema,
  infosSchema,
  maybeBlockSchema,
  maybeInfoSchema,
  maybeTransactionSchema,
  type Transaction,
  type TransactionInfo,
} from './wire.ts'

/** Maximum response size for one transaction: java-tron accepts none above 500 KB, and its logs and calls add to it. */
const LIMITS = { maxBytes: 16 * 2 ** 20 }

/** Blocks between back ends of one URL at most: a turn of all producers. */
const APART_MAX = 27

/** The part of a node that is used here. */
export type PartNode = Pick<TronNode, 'call'>

/** A block's list of transactions, each of which can be read alone. */
export interface ListedBlock {
  readonly header: Header
  /** Ids in the order of the block. */
  readonly ids: readonly string[]
  /**
   * One listed transaction, or null when it failed. Throws `NodeUnreliable` when the node does not have the transaction or its
   * info yet, so that its effect is unknown, or when the two contradict each other.
   */
  read(id: string): Promise<SuccessfulTransaction | null>
}

/**
 * The list of a block whose parts cannot all be read at once: from the block itself, otherwise from its infos, whose number must match
 * the node's count. Neither is proven, as in the usual scan: `txTrieRoot` covers signatures that the API returns
 * in another form. Throws `NodeUnreliable` when there is no such block or no list.
 */
export async function listBlock(node: PartNode, height: number): Promise<ListedBlock> {
  const block = await wholeBlock(node, height)
  if (block === null) return listByInfos(node, height)
  const listed = new Map(block.transactions.map((transaction) => [transaction.txID, transaction]))
  if (listed.size !== block.transactions.length) throw unlike(height, 'a transaction came twice')
  return {
    header: block,
    ids: [...listed.keys()],
    read: async (id) =>
      successfulTransaction(block, present(listed.get(id), height, id), await infoOf(node, height, id)),
  }
}

/** Null when the node fails to return it. */
async function wholeBlock(node: PartNode, height: number): Promise<Block | null> {
  let block: Block | null
  try {
    block = await node.call('wallet/getblockbynum', { num: height }, maybeBlockSchema)
  } catch (error) {
    if (error instanceof NodeUnreliable) return null
    throw error
  }
  if (block === null) throw await absence(node, height)
  checkHeader(block, height)
  return block
}

/**
 * Why a node has no block at a height. Heights have no gaps: one whose newest block is higher dropped this one, or began behind it, as lite full
 * nodes do. The back ends of one URL may be some blocks apart.
 */
export async function absence(node: PartNode, height: number): Promise<NodeUnreliable> {
  const { number } = (await node.call('wallet/getnowblock', {}, headerSchema)).block_header.raw_data
  if (number - height < APART_MAX) return new NodeUnreliable(`the node has no block ${height}`)
  const words = `the node no longer has block ${height}: its newest is ${number}`
  return new RpcFailure('pruned', words, { method: 'wallet/getblockbynum' })
}

async function listByInfos(node: PartNode, height: number): Promise<ListedBlock> {
  const header = await node.call('wallet/getblock', { id_or_num: String(height), detail: false }, headerSchema)
  checkHeader(header, height)
  const given = await node.call('wallet/gettransactioninfobyblocknum', { num: height }, infosSchema)
  const infos = new Map(given.map((info) => [info.id, info]))
  const { count } = await node.call('wallet/gettransactioncountbyblocknum', { num: height }, countSchema)
  if (infos.size !== given.length) throw unlike(height, 'an info came twice')
  if (infos.size !== count) throw unlike(height, `${count} transactions and ${infos.size} infos`)
  return {
    header,
    ids: [...infos.keys()],
    read: async (id) =>
      successfulTransaction(header, await transactionOf(node, height, id), present(infos.get(id), height, id)),
  }
}

async function infoOf(node: PartNode, height: number, id: string): Promise<TransactionInfo> {
  const info = await node.call('wallet/gettransactioninfobyid', { value: id }, maybeInfoSchema, LIMITS)
  return present(info, height, id)
}

async function transactionOf(node: PartNode, height: number, id: string): Promise<Transaction> {
  const transaction = await node.call('wallet/gettransactionbyid', { value: id }, maybeTransactionSchema, LIMITS)
  if (transaction !== null && transaction.txID !== id)
    throw unlike(height, 'another transaction than the one asked for')
  return present(transaction, height, id)
}

function present<T>(found: T | null | undefined, height: number, id: string): T {
  if (found === null || found === undefined) throw unlike(height, `nothing about transaction ${id} yet`)
  return found
}

function unlike(height: number, what: string): NodeUnreliable {
  return new NodeUnreliable(`the node's block ${height}: ${what}`)
}
