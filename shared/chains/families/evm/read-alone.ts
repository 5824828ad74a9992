import type { RawTransfer, ScannedBlock } from '#shared/ports/scanned-blocks.ts'
import { BlockUnreadable, NodeUnreliable } from '#shared/ports/scanning.ts'
import { inBlock } from '../../nodes/in-block.ts'
import type { RpcNode } from '../../nodes/json-rpc.ts'
import { mapConcurrently } from '../../nodes/map-concurrently.ts'
import { RpcFailure } from '../../nodes/rpc-failure.ts'
import { createBalanceReader } from './balances.ts'
import {
  blockRef,
  type CoinScope,
  coinScope,
  fallsBackToBalances,
  loggedCoins,
  mustTrace,
  type ScanQuestion,
  tokensIn,
} from './block-scan.ts'
import { findUnexplained } from './compare-balances.ts'
import { type CoinMove, coinTransfers, nativeTransfers } from './extract.ts'
import { readBlock } from './fetch-blocks.ts'
import type { EvmClientOptions } from './options.ts'
import { type BlockApart, readBlockApart, readLogsApart } from './read-apart.ts'
import { createLogReader, type LogReader } from './read-logs.ts'
import { spendingOf, successful } from './receipts.ts'
import type { TraceReader } from './traces.ts'
import type { Block, Log } from './wire.ts'

/** Transactions traced at the same time. */
const CONCURRENCY = 4
/** Tracing transaction by transaction ends after this time, milliseconds, … */
const TRACING_MAX_MS = 25_000
/** … and after this many failures: balances show the rest. */
const FAILURES_MAX = 4

/** A block and the addresses to search in it. */
export type BlockQuestion = Omit<ScanQuestion, 'from' | 'to'> & { readonly height: number }

/**
 * Reads one block that cannot be read as usual, each part by the smallest possible responses: transactions, receipts and traces
 * one by one. Internal transfers of transactions that cannot be traced either are left to the balances of all watched
 * accounts, before and after the block. Throws `BlockUnreadable` when that is not enough.
 */
export function createLoneReader(
  options: EvmClientOptions,
  traces: TraceReader,
): (node: RpcNode, question: BlockQuestion) => Promise<ScannedBlock> {
  const { internal, metrics } = options
  const scope = coinScope(options, traces)
  const logReader = createLogReader(scope.filter)
  const reader = createBalanceReader()
  const labels = { network: options.chain.id, mode: options.mode }

  async function scanBody(node: RpcNode, { block, unparsed }: BlockApart, question: BlockQuestion, traced: boolean) {
    const { watches, accounts } = question
    const logs = await readLogs(node, scope, logReader, block)
    const spending =
      accounts !== undefined && !traced && fallsBackToBalances(internal)
        ? { spending: await spendingOf(node, block, accounts) }
        : {}
    const tokens = tokensIn(scope, { block, logs }, watches)
    const ref = { ...blockRef(block), ...spending }
    if (scope.logged)
      return { ...ref, transfers: [...(await loggedCoins(node, scope, { block, logs }, watches)), ...tokens] }
    const sent = await successful(node, block.hash, nativeTransfers(scope.keyPrefix, block, scope.asset, watches))
    const traceable = traced && watches.size > 0 ? block.transactions.map(({ hash }) => hash) : []
    const inner = await traceApart(
      node,
      traces,
      block,
      traceable.filter((hash) => !unparsed.includes(hash)),
    )
    const unrecorded = [...unparsed, ...inner.untraced]
    const found = { sent, inside: inner.moves }
    const moved =
      unrecorded.length === 0 ? [] : await findUnexplained({ node, reader, asset: scope.asset }, block, watches, found)
    const [first] = moved
    if (first !== undefined && unparsed.length > 0) {
      throw new NodeUnreliable(`the balance of ${first.address} moved, and ${unparsed.join(' and ')} cannot be parsed`)
    }
    const recorded = new Set(moved.map(({ matchKey }) => matchKey))
    const inside = coinTransfers(scope.keyPrefix, 'i', inner.moves, scope.asset, watches)
    const transfers: readonly RawTransfer[] = [
      ...sent,
      ...inside.filter(({ matchKey }) => !recorded.has(matchKey)),
      ...tokens,
    ]
    if (unrecorded.length === 0) return { ...ref, transfers }
    const reason = inner.failure?.message ?? 'a transaction cannot be parsed'
    const method = methodOf(inner.failure) ?? 'eth_getTransactionByHash'
    return { ...ref, transfers, unread: { txHashes: unrecorded, method, reason, moved } }
  }

  return async (node, question) => {
    const { height } = question
    const traced = internal.ledger === 'trace' && (await mustTrace(node, traces, internal.required))
    const unnamed = { height, hash: null }
    const body = await inBlock(unnamed, 'eth_getBlockByNumber', () => readBody(node, height))
    const named = { height, hash: body.block.hash }
    const scanned = await inBlock(named, 'eth_getBlockByNumber', () => scanBody(node, body, question, traced))
    metrics.count('scanner_blocks_read_alone_total', labels)
    return scanned
  }
}

/** The whole block where it fits, otherwise its parts. */
async function readBody(node: RpcNode, height: number): Promise<BlockApart> {
  try {
    return { block: await readBlock(node, height), unparsed: [] }
  } catch (error) {
    if (!(error instanceof NodeUnreliable)) throw error
    return readBlockApart(node, height)
  }
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

interface TracedApart {
  readonly moves: readonly CoinMove[]
  /** Ids of transactions that could not be traced, in the order of the block. */
  readonly untraced: readonly string[]
  /** Why the first of them failed; absent when all were traced. */
  readonly failure?: NodeUnreliable
}

async function traceApart(
  node: RpcNode,
  traces: TraceReader,
  block: Block,
  hashes: readonly string[],
): Promise<TracedApart> {
  const endsAt = performance.now() + TRACING_MAX_MS
  const failures: NodeUnreliable[] = []
  const traced = await mapConcurrently(hashes, CONCURRENCY, async (hash) => {
    if (failures.length >= FAILURES_MAX || performance.now() > endsAt) return null
    try {
      return await traces.readTransaction(node, block, hash)
    } catch (error) {
      if (!(error instanceof NodeUnreliable)) throw error
      failures.push(error)
      return null
    }
  })
  const [failure] = failures
  return {
    moves: traced.flatMap((moves) => moves ?? []),
    untraced: hashes.filter((_, index) => traced[index] === null),
    ...(failure !== undefined && { failure }),
  }
}

function methodOf(failure: NodeUnreliable | undefined): string | null {
  return failure instanceof RpcFailure ? failure.method : null
}
