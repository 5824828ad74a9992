import type { ScannedBlock } from '#shared/ports/scanned-blocks.ts'
import { BlockUnreadable, NodeUnreliable } from '#shared/ports/scanning.ts'
import { ignoreUnclear } from '../../nodes/ignore-unclear.ts'
import { inBlock } from '../../nodes/in-block.ts'
import type { RpcNode } from '../../nodes/json-rpc.ts'
import { RpcFailure } from '../../nodes/rpc-failure.ts'
import { checksumAddress } from './address.ts'
import { type CoinScope, coinScope, findTransfers, type ScanQuestion, tokensIn } from './block-scan.ts'
import { readBlock } from './fetch-blocks.ts'
import { findUnexplained } from './find-unexplained.ts'
import type { EvmClientOptions } from './options.ts'
import { type BlockApart, readBlockApart, readLogsApart } from './read-apart.ts'
import { createLogReader, type LogReader } from './read-logs.ts'
import type { Block, Log } from './wire.ts'

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
    tokensIn(scope, { block, logs }, NOBODY)
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

const NOBODY = { has: () => false, add: () => {}, size: 0, keys: () => [] }
