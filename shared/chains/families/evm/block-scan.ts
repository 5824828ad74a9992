import type { AssetId } from '#shared/domain/enumerations.ts'
import type { BlockRef, RawTransfer, ScannedBlock } from '#shared/ports/scanned-blocks.ts'
import { NodeUnreliable, type WatchIndex } from '#shared/ports/scanning.ts'
import { inBlock } from '../../nodes/in-block.ts'
import type { RpcNode } from '../../nodes/json-rpc.ts'
import { mapConcurrently } from '../../nodes/map-concurrently.ts'
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
import type { EvmClientOptions } from './options.ts'
import type { LogFilter } from './read-logs.ts'
import { spendingOf, successful } from './receipts.ts'
import { withStateSync } from './state-sync.ts'
import type { Header } from './wire.ts'

/** Blocks whose receipts are read at the same time. */
const CONCURRENCY = 4

/** A range of blocks and the addresses to search. */
export interface ScanQuestion {
  readonly from: number
  readonly to: number
  readonly watches: WatchIndex
  /** Accounts whose spending is read, which with their balances shows what else reached them. */
  readonly accounts?: AccountSet | undefined
}

/** Membership test of accounts. */
export type AccountSet = Pick<ReadonlySet<string>, 'has'>

/** Blocks of one node with their transfers. */
export type BlockScan = (node: RpcNode, question: ScanQuestion) => Promise<readonly ScannedBlock[]>

/**
 * Scans blocks of one network: transactions, token logs, and receipts of direct coins. Where the network logs transfers of its coin, those
 * logs are the coins; elsewhere transactions show what they send directly, and balances what reaches an account otherwise.
 */
export function createBlockScan(options: EvmClientOptions): BlockScan {
  const scope = coinScope(options)
  const readBlocks = createBlockReader(scope.filter)

  return async (node, { from, to, watches, accounts }) => {
    const scanOne = (entry: FetchedBlock): Promise<ScannedBlock> =>
      findTransfers(node, scope, entry, { watches, accounts })
    const scanned: ScannedBlock[] = []
    for await (const portion of readBlocks(node, from, to)) {
      scanned.push(
        ...(await mapConcurrently(portion, CONCURRENCY, (entry) =>
          inBlock({ height: entry.block.number, hash: entry.block.hash }, 'eth_getBlockByNumber', () => scanOne(entry)),
        )),
      )
    }
    return scanned
  }
}

/** What a block contains: transfers to watched addresses, and what accounts spent in it. */
export async function findTransfers(
  node: RpcNode,
  scope: CoinScope,
  entry: FetchedBlock,
  { watches, accounts }: Pick<ScanQuestion, 'watches' | 'accounts'>,
): Promise<ScannedBlock> {
  const { block } = entry
  const sent = await successful(node, block.hash, nativeTransfers(scope.keyPrefix, block, scope.asset, watches))
  const coins = scope.logged ? loggedCoins(scope, entry, { sent, watches }) : sent
  return {
    ...blockRef(block),
    ...(accounts !== undefined && { spending: await spendingOf(node, block, accounts) }),
    transfers: [...coins, ...tokensIn(scope, entry, watches)],
  }
}

/** Extraction settings of a network. */
export interface CoinScope {
  readonly keyPrefix: string
  readonly asset: AssetId
  readonly tokens: TokenTable
  readonly filter: LogFilter
  /** The network logs every transfer of its native coin. */
  readonly logged: boolean
  /** Logs may refer to a state-sync transaction that nodes do not list. */
  readonly syncsState: boolean
}

/** The same for every way of reading a block. */
export function coinScope({ chain, mode, logsCoins: logged, ...options }: EvmClientOptions): CoinScope {
  const tokens: TokenTable = new Map<string, AssetId | null>([
    ...chain.siblings.map(({ contract }) => [contract.toLowerCase(), null] as const),
    ...options.tokens.map(({ contract, asset }) => [contract.toLowerCase(), asset] as const),
  ])
  return {
    keyPrefix: `${mode}:${chain.id}`,
    asset: options.nativeAsset,
    tokens,
    filter: {
      contracts: [...tokens.keys(), ...(logged ? [SYSTEM_COIN] : [])],
      topics: [TRANSFER_TOPIC, ...(logged ? [COIN_TRANSFER_TOPIC] : [])],
      rangeMax: chain.scanBatchMax,
    },
    logged,
    syncsState: chain.logsCoins === true,
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

/** Native transfers from the network's own logs. Throws `NodeUnreliable` when direct transfers are missing from them. */
function loggedCoins(
  { keyPrefix, asset, syncsState }: CoinScope,
  { block, logs }: FetchedBlock,
  { sent, watches }: { readonly sent: readonly RawTransfer[]; readonly watches: WatchIndex },
): readonly RawTransfer[] {
  const moves = loggedCoinMoves(syncsState ? withStateSync(block, logs) : block, logs)
  const found = coinTransfers(keyPrefix, moves, asset, watches)
  // Direct transfers must be among them; otherwise the network or the node does not log native coins (any more).
  for (const { txHash, matchKey, amountBase } of sent) {
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
