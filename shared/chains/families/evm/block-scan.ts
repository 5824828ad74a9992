import type { AssetId } from '#shared/domain/enumerations.ts'
import {
  type BlockRef,
  NodeUnreliable,
  type RawTransfer,
  type ScannedBlock,
  type Spending,
  type WatchIndex,
} from '#shared/usecases/ports/scanning.ts'
import type { RpcNode } from '../../json-rpc.ts'
import { mapConcurrently } from '../../map-concurrently.ts'
import { RpcFailure } from '../../rpc-failure.ts'
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
import type { TraceReader } from './traces.ts'
import { type Block, type Header, type Receipt, receiptSchema } from './wire.ts'

/** Blocks traced at the same time: it is the most expensive question there is. */
const TRACE_CONCURRENCY = 4

/** A range of blocks and whose transfers are looked for. */
export interface ScanQuestion {
  readonly from: number
  readonly to: number
  readonly watches: WatchIndex
  /** Accounts whose spending is asked for, where balances tell of coins inside of calls. */
  readonly accounts?: ReadonlySet<string> | undefined
}

/** Blocks of one node with their transfers. */
export type BlockScan = (node: RpcNode, question: ScanQuestion) => Promise<readonly ScannedBlock[]>

/**
 * Scans blocks of one network. Coins are counted by one ledger only: by the network's own logs of them where it has such
 * logs, else by what transactions send, once each, and what traces show inside of them.
 */
export function createBlockScan(options: EvmClientOptions, traces: TraceReader): BlockScan {
  const { chain, internal } = options
  const tokens: TokenTable = new Map<string, AssetId | null>([
    ...chain.siblings.map(({ contract }) => [contract.toLowerCase(), null] as const),
    ...options.tokens.map(({ contract, asset }) => [contract.toLowerCase(), asset] as const),
  ])
  const logged = internal.ledger === 'logs'
  const readBlocks = createBlockReader({
    contracts: [...tokens.keys(), ...(logged ? [SYSTEM_COIN] : [])],
    topics: [TRANSFER_TOPIC, ...(logged ? [COIN_TRANSFER_TOPIC] : [])],
    rangeMax: chain.scanBatchMax,
  })
  const scope: CoinScope = { keyPrefix: `${options.mode}:${chain.id}`, asset: options.nativeAsset, traces }

  return async (node, { from, to, watches, accounts }) => {
    const traced = internal.ledger === 'trace' && (await mustTrace(node, traces, internal.required))
    const isBalanced = accounts !== undefined && !traced && fallsBackToBalances(internal)
    const scanOne = async (entry: FetchedBlock): Promise<ScannedBlock> => {
      const { block, logs } = entry
      const coins = logged
        ? await loggedCoins(node, scope, entry, watches)
        : await sentCoins(node, scope, entry, { watches, traced })
      return {
        ...blockRef(block),
        ...(isBalanced && { spending: await spendingOf(node, block, accounts) }),
        transfers: [...coins, ...tokenTransfers(scope.keyPrefix, block, logs, tokens, watches)],
      }
    }
    const scanned: ScannedBlock[] = []
    for await (const portion of readBlocks(node, from, to)) {
      scanned.push(...(await mapConcurrently(portion, TRACE_CONCURRENCY, scanOne)))
    }
    return scanned
  }
}

/** Whether balances are read where nothing else shows coins inside of calls. */
export function fallsBackToBalances({ ledger, required }: InternalMoves): boolean {
  return ledger === 'balance' || (ledger === 'trace' && !required)
}

interface CoinScope {
  readonly keyPrefix: string
  readonly asset: AssetId
  readonly traces: TraceReader
}

/** Whether blocks of this node are traced. Where one node offers traces, another one without them is no substitute. */
async function mustTrace(node: RpcNode, traces: TraceReader, required: boolean): Promise<boolean> {
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

async function loggedCoins(
  node: RpcNode,
  { keyPrefix, asset }: CoinScope,
  { block, logs }: FetchedBlock,
  watches: WatchIndex,
): Promise<readonly RawTransfer[]> {
  const found = coinTransfers(keyPrefix, 'p', loggedCoinMoves(block, logs), asset, watches)
  // What a transaction itself sent must be among them, else the network or the node does not log coins (any more).
  for (const { txHash, matchKey, amountBase } of await successful(
    node,
    block.hash,
    nativeTransfers(keyPrefix, block, asset, watches),
  )) {
    const isLogged = found.some(
      (one) => one.txHash === txHash && one.matchKey === matchKey && one.amountBase === amountBase,
    )
    if (!isLogged) throw new NodeUnreliable(`block ${block.number} holds coins that were sent and not logged`)
  }
  return found
}

/** A transaction that reverted is in its block like any other, and moved nothing. */
async function successful(
  node: RpcNode,
  blockHash: string,
  transfers: readonly RawTransfer[],
): Promise<readonly RawTransfer[]> {
  const kept: RawTransfer[] = []
  for (const transfer of transfers) {
    const receipt = await receiptIn(node, blockHash, transfer.txHash)
    if (receipt.status === '0x1') kept.push(transfer)
  }
  return kept
}

/** What accounts spent in a block by their own transactions; a failed one costs its fee, and what one sends to itself stays. */
async function spendingOf(
  node: RpcNode,
  block: Block,
  accounts: ReadonlySet<string>,
): Promise<ReadonlyMap<string, Spending>> {
  const spending = new Map<string, Spending>()
  for (const { hash, from, to, value } of block.transactions) {
    const account = from.slice(2).toLowerCase()
    if (!accounts.has(account)) continue
    const receipt = await receiptIn(node, block.hash, hash)
    const leaves = receipt.status === '0x1' && to?.slice(2).toLowerCase() !== account
    const fee = feeOf(receipt)
    const { spentBase, feesBase } = spending.get(account) ?? { spentBase: 0n, feesBase: 0n }
    spending.set(account, {
      spentBase: spentBase + fee + (leaves ? BigInt(value) : 0n),
      feesBase: feesBase + fee,
    })
  }
  return spending
}

function feeOf({ gasUsed, effectiveGasPrice, blobGasUsed, blobGasPrice, l1Fee }: Receipt): bigint {
  const product = (used = '0x0', price = '0x0') => BigInt(used) * BigInt(price)
  return product(gasUsed, effectiveGasPrice) + product(blobGasUsed, blobGasPrice) + BigInt(l1Fee ?? '0x0')
}

async function receiptIn(node: RpcNode, blockHash: string, txHash: string): Promise<Receipt> {
  const receipt = await readReceipt(node, txHash)
  if (receipt === null) throw new NodeUnreliable('the node has no receipt of a transaction in its block')
  if (receipt.blockHash !== blockHash) throw new NodeUnreliable('the receipt of a transaction names another block')
  return receipt
}

/** A transaction's receipt; null when the node has none. Throws `NodeUnreliable` when it is another transaction's. */
export async function readReceipt(node: RpcNode, txHash: string): Promise<Receipt | null> {
  const receipt = await node.call('eth_getTransactionReceipt', [txHash], receiptSchema.nullable())
  if (receipt !== null && receipt.transactionHash !== txHash) {
    throw new NodeUnreliable('the node gave the receipt of another transaction')
  }
  return receipt
}

/** A header in the terms of every chain; times in milliseconds. */
export function blockRef(header: Header): BlockRef {
  const { number, hash, parentHash, timestamp } = header
  return { height: number, hash, parentHash, time: timestamp * 1_000 }
}
