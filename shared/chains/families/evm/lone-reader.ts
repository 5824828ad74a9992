import { inChunks } from '#shared/domain/in-chunks.ts'
import type { RawTransfer, ScannedBlock } from '#shared/ports/scanned-blocks.ts'
import { BlockUnreadable, NodeUnreliable, type WatchIndex } from '#shared/ports/scanning.ts'

import { ignoreUnclear } from '../../nodes/ignore-unclear.ts'
import { inBlock } from '../../nodes/in-block.ts'
import type { RpcNode } from '../../nodes/json-rpc.ts'
import { mapConcurrently } from '../../nodes/map-concurrently.ts'
import { RpcFailure } from '../../nodes/rpc-failure.ts'
import { checksumAddress } from './address.ts'
import { type BalanceReader, createBalanceReader } from './balances.ts'
import { type CoinScope, coinScope, findTransfers, type ScanQuestion, tokensIn } from './block-scan.ts'
import { createBloom } from './bloom.ts'
import { readBlock } from './fetch-blocks.ts'
import type { EvmClientOptions } from './options.ts'
import { createLogReader, type LogFilter, type LogReader, takesLog } from './read-logs.ts'
import { spendingOf } from './receipts.ts'
import { toQuantity } from './rpc.ts'
import { stateSyncHash } from './state-sync.ts'
import { type Block, blockRefsSchema, type Log, loggedReceiptSchema, transactionSchema } from './wire.ts'

/** A block and the addresses to search in it. */
export type BlockQuestion = Omit<ScanQuestion, 'from' | 'to'> & { readonly height: number }

/**
 * Reads one block that cannot be read as usual, each part by the smallest possible responses: transactions and receipts one by one. With
 * transactions of a form that cannot be parsed, balances of all watched accounts before and after the block must prove that those moved nothing.
 * Throws `BlockUnreadable` when that is not enough.
 */
export function createLoneReader(
  options: EvmClientOptions,
): (node: RpcNode, question: BlockQuestion) => Promise<ScannedBlock> {
  const { metrics } = options
  const scope = coinScope(options)
  const logReader = createLogReader(scope.filter)
  const labels = { network: options.chain.id, mode: options.mode }

  async function scanBody(node: RpcNode, { block, unparsed }: BlockApart, question: BlockQuestion) {
    const logs = await readLogs(node, scope, logReader, block)
    const scanned = await findTransfers(node, scope, { block, logs }, question)
    const { numbersAreParents } = options.chain
    const body = { block, unparsed }
    if (unparsed.length > 0 && !scope.logged)
      await proveMovedNothing(node, body, { ...question, numbersAreParents }, scanned)
    return scanned
  }

  return async (node, question) => {
    const { height } = question
    const unnamed = { height, hash: null }
    const body = await inBlock(unnamed, 'eth_getBlockByNumber', () => readBody(node, height))
    const named = { height, hash: body.block.hash }
    const scanned = await inBlock(named, 'eth_getBlockByNumber', () => scanBody(node, body, question))
    metrics.count('scanner_blocks_read_alone_total', labels)
    return scanned
  }
}

/**
 * Throws `NodeUnreliable` when a watched balance moved by another amount than the readable transactions show. What moved it may be one of the
 * others: recorded as an increase now, it would count once more when another node shows that transaction.
 */
async function proveMovedNothing(
  node: RpcNode,
  { block, unparsed }: BlockApart,
  { watches, numbersAreParents }: BlockQuestion & { readonly numbersAreParents: boolean | undefined },
  { transfers }: ScannedBlock,
): Promise<void> {
  const sent = transfers.filter(({ contract }) => contract === null)
  const [moved] = await findUnexplained(node, block, { watches, sent, numbersAreParents })
  if (moved === undefined) return
  const address = checksumAddress(moved)
  throw new NodeUnreliable(`the balance of ${address} moved, and ${unparsed.join(' and ')} cannot be parsed`)
}

/** The whole block where it fits, otherwise its parts. */
async function readBody(node: RpcNode, height: number): Promise<BlockApart> {
  const block = await ignoreUnclear(readBlock(node, height))
  return block === null ? readBlockApart(node, height) : { block, unparsed: [] }
}

/** The logs as usual where they are available and match the block, otherwise those of its receipts. */
async function readLogs(node: RpcNode, scope: CoinScope, logReader: LogReader, block: Block): Promise<readonly Log[]> {
  if (scope.filter.contracts.length === 0) return []
  try {
    const logs = await logReader.range(node, block.number, block.number)
    if (logs.length === 0) await logReader.checkSilence(node, block)
    tokensIn(scope, { block, logs }, NO_WATCHES)
    return logs
  } catch (error) {
    if (!(error instanceof NodeUnreliable)) throw error
    // Receipts settle logs that contradict the block only where the bloom filter proves that they are complete.
    if (scope.syncsState && !isUnanswered(error)) throw error
    return readLogsApart(node, block, scope.filter, scope.syncsState)
  }
}

function isUnanswered(error: NodeUnreliable): boolean {
  return error instanceof RpcFailure || (error instanceof BlockUnreadable && error.cause instanceof RpcFailure)
}

const NO_WATCHES = { has: () => false, add: () => {}, size: 0, keys: () => [] }

/** Accounts whose balances are read in one request. */
const CHUNK = 500
/** Chunks read at the same time. */
const CHUNKS_AT_ONCE = 4
/** Hex digits of an account. */
const KEY_DIGITS = 40

/** Whose balances are compared, and with which direct transfers. */
interface UnparsedQuestion {
  readonly watches: WatchIndex
  readonly sent: readonly RawTransfer[]
  readonly numbersAreParents: boolean | undefined
}

/**
 * Watched accounts, as match keys, whose balance changed in one block by a different amount than these direct transfers explain. All
 * watched accounts are read, a chunk at a time. Throws `RpcFailure` of kind `pruned` when the node has dropped one of the two states.
 */
async function findUnexplained(
  node: RpcNode,
  block: Block,
  { watches, sent, numbersAreParents }: UnparsedQuestion,
): Promise<readonly string[]> {
  const reader = createBalanceReader(numbersAreParents)
  const changed: Change[] = []
  const chunks = inChunks(watches.keys(), CHUNK)
  const work = async (): Promise<void> => {
    for await (const keys of chunks) {
      const matchKeys = keys.filter(({ length }) => length === KEY_DIGITS)
      changed.push(...(await changesIn(node, reader, block, matchKeys)))
    }
  }
  await Promise.all(Array.from({ length: CHUNKS_AT_ONCE }, work))
  const spending = await spendingOf(node, block, new Set(changed.map(({ matchKey }) => matchKey)))
  return changed.flatMap(({ matchKey, increaseBase }) => {
    const { spentBase, feesBase } = spending.get(matchKey) ?? { spentBase: 0n, feesBase: 0n }
    const own = sent.filter((transfer) => transfer.matchKey === matchKey)
    const rest = increaseBase - own.reduce((sum, { amountBase }) => sum + amountBase, 0n) + spentBase
    // A remainder within the account's own fees is a miscounted fee: rollups charge some that receipts do not contain.
    return rest === 0n || (rest > 0n && rest <= feesBase) ? [] : [matchKey]
  })
}

interface Change {
  readonly matchKey: string
  readonly increaseBase: bigint
}

async function changesIn(
  node: RpcNode,
  reader: BalanceReader,
  block: Block,
  matchKeys: readonly string[],
): Promise<readonly Change[]> {
  const { number: height, hash, parentHash, timestamp } = block
  const before = await reader.read(node, matchKeys, { height: height - 1, hash: parentHash })
  const place = { height, hash, time: timestamp * 1_000 }
  const after = before === null ? null : await reader.read(node, matchKeys, place)
  if (before === null || after === null) {
    const details = { method: 'eth_getBalance' }
    throw new RpcFailure('pruned', `${node.host} has dropped the balances of block ${height}`, details)
  }
  // Who sent something may have received as much in the same block.
  const senders = new Set(block.transactions.map(({ from }) => from.slice(2).toLowerCase()))
  return matchKeys.flatMap((matchKey) => {
    const increaseBase = (after.get(matchKey) ?? 0n) - (before.get(matchKey) ?? 0n)
    return increaseBase === 0n && !senders.has(matchKey) ? [] : { matchKey, increaseBase }
  })
}

/** Transactions or receipts requested at the same time. */
const PARTS_AT_ONCE = 8
/** With more unparsable transactions than this, the node is at fault and not the block. */
const UNPARSED_MAX = 16
const NOBODY = `0x${'0'.repeat(40)}`

/** A block whose transactions were requested one by one. */
interface BlockApart {
  /** An unreadable transaction is represented without sender, receiver and value. */
  readonly block: Block
  /** Ids of the unreadable transactions. */
  readonly unparsed: readonly string[]
}

/** Reads a block by its header and each of its transactions. Throws `NodeUnreliable` when the node does not have it. */
async function readBlockApart(node: RpcNode, height: number): Promise<BlockApart> {
  const refs = await node.call('eth_getBlockByNumber', [toQuantity(height), false], blockRefsSchema.nullable())
  if (refs === null) throw new NodeUnreliable(`the node has no block ${height}`)
  if (refs.number !== height) throw new NodeUnreliable(`the node's block ${height} contradicts itself`)
  const unparsed = new Set<string>()
  const transactions = await mapConcurrently(refs.transactions, PARTS_AT_ONCE, async (hash) => {
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
async function readLogsApart(
  node: RpcNode,
  block: Block,
  filter: LogFilter,
  syncsState: boolean,
): Promise<readonly Log[]> {
  const bloom = createBloom()
  const found = await mapConcurrently(block.transactions, PARTS_AT_ONCE, async ({ hash }) => {
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
