import type { AssetId, Mode } from '#shared/domain/enumerations.ts'
import type { Metrics } from '#shared/usecases/ports/runtime.ts'
import {
  type BlockRef,
  type ChainClient,
  NodeMismatch,
  NodeUnreliable,
  type RawTransfer,
  type ScannedBlock,
  type WatchIndex,
} from '#shared/usecases/ports/scanning.ts'
import type { ChainDefinition } from '../../chain.ts'
import type { RpcClient } from '../../json-rpc.ts'
import { RpcFailure } from '../../rpc-failure.ts'
import { nativeTransfers, type TokenTable, tokenTransfers } from './extract.ts'
import { createBlockReader, type FetchedBlock, toQuantity } from './fetch-blocks.ts'
import { createRpc } from './rpc.ts'
import { bytesSchema, type Header, headerSchema, receiptSchema } from './wire.ts'

/** Selector of `decimals()`, EIP-20. */
const DECIMALS_SELECTOR = '0x313ce567'

/** An accepted token of the network in the client's mode. */
export interface EvmToken {
  readonly asset: AssetId
  readonly contract: string
  readonly decimals: number
}

/** Everything a client needs; a further EVM network is another definition here, and nothing else. */
export interface EvmClientOptions {
  readonly chain: ChainDefinition
  readonly mode: Mode
  readonly rpcUrls: readonly string[]
  readonly chainId: number
  /** The network's own coin as an asset. */
  readonly nativeAsset: AssetId
  readonly tokens: readonly EvmToken[]
  readonly metrics: Metrics
}

/** A chain client that holds connections. */
export interface EvmClient extends ChainClient {
  close(): Promise<void>
}

/**
 * Reads one EVM network: value sent by transactions themselves and EIP-20 transfers, matched in this process. Value
 * moved inside contract calls is not seen yet. Opens nothing until the first call.
 */
export function createEvmClient(options: EvmClientOptions): EvmClient {
  const { chain, mode } = options
  const rpc = createRpc({
    urls: options.rpcUrls,
    chainId: options.chainId,
    metrics: options.metrics,
    labels: { network: chain.id, mode },
  })
  const tokens: TokenTable = new Map<string, AssetId | null>([
    ...chain.siblings.map(({ contract }) => [contract.toLowerCase(), null] as const),
    ...options.tokens.map(({ contract, asset }) => [contract.toLowerCase(), asset] as const),
  ])
  const readBlocks = createBlockReader(rpc, [...tokens.keys()])
  let known: Awaited<ReturnType<ChainClient['head']>> | null = null

  return {
    verify: () => verifyTokens(rpc, options.tokens),
    async genesisHash() {
      return present(await readHeader(rpc, toQuantity(0)), 'genesis block').hash
    },
    async head() {
      const { number, hash } = present(await readHeader(rpc, 'latest'), 'latest block')
      // Finality moves with blocks: on a quiet chain one question is enough.
      if (known?.hash !== hash) {
        known = { height: number, hash, finalizedHeight: (await readFinalized(rpc))?.number ?? null }
      }
      return known
    },
    async blockAt(height) {
      const header = await readHeader(rpc, toQuantity(height))
      return header === null ? null : blockRef(header)
    },
    async scan(from, to, watches) {
      const fetched = await readBlocks(from, to)
      return Promise.all(fetched.map((entry) => scanBlock(rpc, options, tokens, entry, watches)))
    },
    close: () => rpc.close(),
  }
}

async function scanBlock(
  rpc: RpcClient,
  { chain, mode, nativeAsset }: EvmClientOptions,
  tokens: TokenTable,
  { block, logs }: FetchedBlock,
  watches: WatchIndex,
): Promise<ScannedBlock> {
  const keyPrefix = `${mode}:${chain.id}`
  const natives: RawTransfer[] = []
  for (const transfer of nativeTransfers(keyPrefix, block, nativeAsset, watches)) {
    if (await succeeded(rpc, transfer.txHash, block.hash)) natives.push(transfer)
  }
  const transfers = [...natives, ...tokenTransfers(keyPrefix, block, logs, tokens, watches)]
  return { ...blockRef(block), transfers }
}

/** A transaction that reverted is in its block like any other, and moved nothing. */
async function succeeded(rpc: RpcClient, txHash: string, blockHash: string): Promise<boolean> {
  const receipt = await rpc.call('eth_getTransactionReceipt', [txHash], receiptSchema.nullable())
  if (receipt === null) throw new NodeUnreliable('the node has no receipt of a transaction in its block')
  if (receipt.blockHash !== blockHash || receipt.transactionHash !== txHash) {
    throw new NodeUnreliable('the receipt of a transaction names another block')
  }
  return receipt.status === '0x1'
}

async function verifyTokens(rpc: RpcClient, tokens: readonly EvmToken[]): Promise<void> {
  for (const { asset, contract, decimals } of tokens) {
    let answer: string
    try {
      answer = await rpc.call('eth_call', [{ to: contract, data: DECIMALS_SELECTOR }, 'latest'], bytesSchema)
    } catch (error) {
      // A contract that reverts has no decimals; a node that is silent says nothing about it.
      if (error instanceof RpcFailure && error.kind === 'refused')
        throw mismatch(asset, contract, 'no answer', decimals)
      throw error
    }
    if (answer.length !== 66 || BigInt(answer) !== BigInt(decimals)) {
      throw mismatch(asset, contract, answer === '0x' ? 'no token' : BigInt(answer).toString(), decimals)
    }
  }
}

function mismatch(asset: AssetId, contract: string, found: string, decimals: number): NodeMismatch {
  return new NodeMismatch(`decimals() of ${asset} at ${contract}: ${found}; the registry says ${decimals}`)
}

function readHeader(rpc: RpcClient, block: string): Promise<Header | null> {
  return rpc.call('eth_getBlockByNumber', [block, false], headerSchema.nullable())
}

/** Null where the node does not know the tag. */
async function readFinalized(rpc: RpcClient): Promise<Header | null> {
  try {
    return await readHeader(rpc, 'finalized')
  } catch (error) {
    if (error instanceof RpcFailure && error.kind === 'refused') return null
    throw error
  }
}

function blockRef(header: Header): BlockRef {
  const { number, hash, parentHash, timestamp } = header
  return { height: number, hash, parentHash, time: timestamp * 1_000 }
}

function present(header: Header | null, what: string): Header {
  if (header === null) throw new NodeUnreliable(`the node has no ${what}`)
  return header
}
