import type { AssetId } from '#shared/domain/enumerations.ts'
import type { BlockRef, RawTransfer, ScannedBlock } from '#shared/ports/scanned-blocks.ts'
import { NodeUnreliable, type WatchIndex } from '#shared/ports/scanning.ts'
import { inBlock } from '../../nodes/in-block.ts'
import type { RpcNode } from '../../nodes/json-rpc.ts'
import { mapConcurrently } from '../../nodes/map-concurrently.ts'
import { RpcFailure } from '../../nodes/rpc-failure.ts'
import {
  COIN_TRANSFER_TOPIC,
  coinTransfers,
  loggedCoinMoves,
  nativeTransfers,
  SYSTEM_COIN,
  type TokenTable,
  TRANSFER_TOPIC,
  tokenTransfers,
} from './extract.ts'
import { createBlockReader, type FetchedBlock } from './fetch-blocks.ts'
import type { EvmClientOptions, InternalMoves } from './options.ts'
import type { LogFilter } from './read-logs.ts'
import { spendingOf, successful } from './receipts.ts'
import { withStateSync } from './state-sync.ts'
import type { TraceReader } from './traces.ts'
import type { Header } from './wire.ts'

/** Blocks traced at the same time: tracing is the most expensive request. */
const TRACE_CONCURRENCY = 4

/** A range of blocks and the addresses to search. */
export interface ScanQuestion {
  readonly from: number
  readonly to: number
  readonly watches: WatchIndex
  /** Accounts whose spending is read, where balances show internal transfers. */
  readonly accounts?: ReadonlySet<string> | undefined
}

/** Blocks of one node with their transfers. */
export type BlockScan = (node: RpcNode, question: ScanQuestion) => Promise<readonly ScannedBlock[]>

/**
 * Scans blocks of one network. Native coins are counted from one ledger only: from the network's own transfer logs where
 * they exist, otherwise from direct transfers, once each, and internal transfers in traces.
 */
export function createBlockScan(options: EvmClientOptions, traces: TraceReader): BlockScan {
  const { internal } = options
  const scope = coinScope(options, traces)
  const readBlocks = createBlockReader(scope.filter)

  return async (node, { from, to, watches, accounts }) => {
    const traced = internal.ledger === 'trace' && (await mustTrace(node, traces, internal.required))
    const isBalanced = accounts !== undefined && !traced && fallsBackToBalances(internal)
    const scanOne = async (entry: FetchedBlock): Promise<ScannedBlock> => {
      const { block } = entry
      const coins = scope.logged
        ? await loggedCoins(node, scope, entry, watches)
        : await sentCoins(node, scope, entry, { watches, traced })
      return {
        ...blockRef(block),
        ...(isBalanced && { spending: await spendingOf(node, block, accounts) }),
        transfers: [...coins, ...tokensIn(scope, entry, watches)],
      }
    }
    const scanned: ScannedBlock[] = []
    for await (const portion of readBlocks(node, from, to)) {
      scanned.push(
        ...(await mapConcurrently(portion, TRACE_CONCURRENCY, (entry) =>
          inBlock({ height: entry.block.number, hash: entry.block.hash }, 'eth_getBlockByNumber', () => scanOne(entry)),
        )),
      )
    }
    return scanned
  }
}

/** Whether balances are read because nothing else shows internal transfers. */
export function fallsBackToBalances({ ledger, required }: InternalMoves): boolean {
  return ledger === 'balance' || (ledger === 'trace' && !required)
}

/** Extraction settings of a network. */
export interface CoinScope {
  readonly keyPrefix: string
  readonly asset: AssetId
  readonly traces: TraceReader
  readonly tokens: TokenTable
  readonly filter: LogFilter
  /** The network logs every transfer of its native coin. */
  readonly logged: boolean
  /** Logs may refer to a state-sync transaction that nodes do not list. */
  readonly syncsState: boolean
}

/** The same for every way of reading a block. */
export function coinScope({ chain, mode, internal, ...options }: EvmClientOptions, traces: TraceReader): CoinScope {
  const tokens: TokenTable = new Map<string, AssetId | null>([
    ...chain.siblings.map(({ contract }) => [contract.toLowerCase(), null] as const),
    ...options.tokens.map(({ contract, asset }) => [contract.toLowerCase(), asset] as const),
  ])
  const logged = internal.ledger === 'logs'
  return {
    keyPrefix: `${mode}:${chain.id}`,
    asset: options.nativeAsset,
    traces,
    tokens,
    filter: {
      contracts: [...tokens.keys(), ...(logged ? [SYSTEM_COIN] : [])],
      topics: [TRANSFER_TOPIC, ...(logged ? [COIN_TRANSFER_TOPIC] : [])],
      rangeMax: chain.scanBatchMax,
    },
    logged,
    syncsState: chain.coinLedger === 'logs',
  }
}

/** Transfers of known tokens in a block. */
export function tokensIn(
  { keyPrefix, tokens, syncsState }: CoinScope,
  { block, logs }: FetchedBlock,
  watches: WatchIndex,
): readonly RawTransfer[] {
  return tokenTransfers(keyPrefix, syncsState ? withStateSync(block, logs) : block, logs, tokens, watches)
}

/** Whether blocks of this node are traced. Once a node has offered traces, another one without them is not a substitute. */
export async function mustTrace(node: RpcNode, traces: TraceReader, required: boolean): Promise<boolean> {
  if (await traces.isOffered(node)) return true
  if (required || traces.wasOffered) throw new RpcFailure('refused', `${node.host} offers no traces`)
  return false
}

async function sentCoins(
  node: RpcNode,
  { keyPrefix, asset, traces }: CoinScope,
  { block }: FetchedBlock,
  { watches, traced }: { readonly watches: WatchIndex; readonly traced: boolean },
): Promise<readonly RawTransfer[]> {
  const sent = await successful(node, block.hash, nativeTransfers(keyPrefix, block, asset, watches))
  if (!traced || watches.size === 0) return sent
  return [...sent, ...coinTransfers(keyPrefix, 'i', await traces.read(node, block), asset, watches)]
}

/** Native transfers from the network's own logs. Throws `NodeUnreliable` when direct transfers are missing from them. */
export async function loggedCoins(
  node: RpcNode,
  { keyPrefix, asset, syncsState }: CoinScope,
  { block, logs }: FetchedBlock,
  watches: WatchIndex,
): Promise<readonly RawTransfer[]> {
  const moves = loggedCoinMoves(syncsState ? withStateSync(block, logs) : block, logs)
  const found = coinTransfers(keyPrefix, 'p', moves, asset, watches)
  // Direct transfers must be among them; otherwise the network or the node does not log native coins (any more).
  for (const { txHash, matchKey, amountBase } of await successful(
    node,
    block.hash,
    nativeTransfers(keyPrefix, block, asset, watches),
  )) {
    const isLogged = found.some(
      (one) => one.txHash === txHash && one.matchKey === matchKey && one.amountBase === amountBase,
    )
    if (!isLogged)
      throw new NodeUnreliable(`block ${block.number} contains direct transfers of coins that were not logged`)
  }
  return found
}

/** A header in chain-independent form; times in milliseconds. */
export function blockRef(header: Header): BlockRef {
  const { number, hash, parentHash, timestamp } = header
  return { height: number, hash, parentHash, time: timestamp * 1_000 }
}
