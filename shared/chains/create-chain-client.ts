import {
  ASSET_IDS,
  type AssetId,
  type Family,
  type Mode,
  type NetworkId,
  networkOf,
  symbolOf,
} from '#shared/domain/enumerations.ts'
import type { Metrics } from '#shared/ports/runtime.ts'
import { type ChainClient, NodeBehind } from '#shared/ports/scanning.ts'
import { ASSETS } from './definitions/assets.ts'
import type { ChainDefinition, NetworkSettings, NodeSettings } from './definitions/chain.ts'
import { CHAINS } from './definitions/registry.ts'
import { contractOf, testnetOf } from './definitions/testnets.ts'
import { createEvmClient } from './families/evm/client.ts'
import type { EvmToken } from './families/evm/options.ts'
import { createSolanaClient } from './families/solana/client.ts'
import { createTronClient } from './families/tron/client.ts'
import { createUtxoClient } from './families/utxo/client.ts'
import { required } from './nodes/needs.ts'

/** Every live chain has a block in a day. */
const NEWEST_AGE_MAX_MS = 86_400_000

/** A chain client and the end of its connections. */
export interface OpenChainClient extends ChainClient {
  close(): Promise<void>
}

/** Settings that the clients of every family need. */
interface ClientOptions {
  readonly chain: ChainDefinition
  readonly mode: Mode
  readonly rpcUrls: readonly string[]
  readonly nativeAsset: AssetId
  readonly tokens: readonly EvmToken[]
  readonly metrics: Metrics
}

type CreateClient = (options: ClientOptions, node: NodeSettings) => OpenChainClient

const CLIENTS: Readonly<Record<Family, CreateClient>> = {
  bitcoin: utxoClient,
  litecoin: utxoClient,
  dogecoin: utxoClient,
  evm: evmClient,
  tron: (options, node) => createTronClient({ ...options, genesis: node.genesis ?? null }),
  solana: (options, node) => createSolanaClient({ ...options, genesis: node.genesis ?? null }),
}

/**
 * The client of a configured network in a mode, from the registry's rows and the installation's settings. Null when
 * the network has no node in that mode.
 */
export function createChainClient(
  networks: NetworkSettings,
  mode: Mode,
  network: NetworkId,
  metrics: Metrics,
): OpenChainClient | null {
  const node = networks[mode][network]
  if (node === undefined) return null
  const chain: ChainDefinition = CHAINS[network]
  const { rpcUrls } = node
  const options = {
    chain,
    mode,
    rpcUrls,
    nativeAsset: nativeAsset(chain),
    tokens: tokensOf(network, mode, node),
    metrics,
  }
  const client = CLIENTS[chain.family](options, node)
  if (mode === 'test' || client.currentHead !== undefined) return client
  return { ...client, currentHead: () => currentHead(client) }
}

/** The head of a node that shows no more than its blocks: one that has none of the last day still reads them. */
async function currentHead(client: ChainClient): ReturnType<ChainClient['head']> {
  const head = await client.head()
  const newest = required(await client.blockAt(head.height), `block ${head.height}`)
  if (Date.now() - newest.time <= NEWEST_AGE_MAX_MS) return head
  throw new NodeBehind(
    `the node is not current: its newest block, ${head.height}, is from ${new Date(newest.time).toISOString()}`,
  )
}

function utxoClient({ nativeAsset: asset, ...options }: ClientOptions, node: NodeSettings): OpenChainClient {
  const { outputs: rules, id } = options.chain
  if (rules === undefined) throw new TypeError(`the definition of ${id} lacks its output rules`)
  const testnet = options.mode === 'test' ? testnetOf(id, node) : null
  const genesis = node.genesis ?? testnet?.genesis ?? rules.genesisHash[options.mode]
  return createUtxoClient({ ...options, rules, asset, genesis })
}

function evmClient(options: ClientOptions, node: NodeSettings): OpenChainClient {
  const { chain, mode } = options
  const publicId = chain.chainIds?.[mode]
  if (publicId === undefined) throw new TypeError(`the definition of ${chain.id} names no chain id`)
  const chainId = node.chainId ?? publicId
  return createEvmClient({ ...options, chainId, logsCoins: chain.logsCoins === true && chainId === publicId })
}

function nativeAsset(chain: ChainDefinition): AssetId {
  const asset = ASSET_IDS.find((id) => networkOf(id) === chain.id && symbolOf(id) === chain.nativeSymbol)
  if (asset === undefined) throw new TypeError(`no asset row for the coin of ${chain.id}`)
  return asset
}

function tokensOf(network: NetworkId, mode: Mode, node: NodeSettings): readonly EvmToken[] {
  return ASSET_IDS.filter((id) => networkOf(id) === network).flatMap((asset) => {
    const contract = contractOf(asset, mode, network, node) ?? null
    return contract === null ? [] : [{ asset, contract, decimals: ASSETS[asset].decimals }]
  })
}
