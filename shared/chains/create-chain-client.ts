import { ASSET_IDS, type AssetId, type Mode, type NetworkId, networkOf, symbolOf } from '#shared/domain/enumerations.ts'
import type { Metrics } from '#shared/usecases/ports/runtime.ts'
import type { ChainClient } from '#shared/usecases/ports/scanning.ts'
import { ASSETS } from './assets.ts'
import type { AssetRow, ChainDefinition, NetworkSettings, NodeSettings } from './chain.ts'
import { createEvmClient } from './families/evm/client.ts'
import type { EvmToken, InternalMoves } from './families/evm/options.ts'
import { createSolanaClient } from './families/solana/client.ts'
import { createTronClient } from './families/tron/client.ts'
import { createUtxoClient } from './families/utxo/client.ts'
import { CHAINS } from './registry.ts'

/** A chain client and the end of its connections. */
export interface OpenChainClient extends ChainClient {
  close(): Promise<void>
}

/**
 * The client of a configured network in a mode, from the registry's rows and the installation's settings. Null when
 * the network has no node in that mode, or is of a family that cannot be scanned yet.
 */
export function createChainClient(
  networks: NetworkSettings,
  mode: Mode,
  network: NetworkId,
  metrics: Metrics,
): OpenChainClient | null {
  const node = networks[mode][network]
  const chain: ChainDefinition = CHAINS[network]
  if (node === undefined) return null
  if (chain.family === 'tron') {
    return createTronClient({
      chain,
      mode,
      rpcUrls: node.rpcUrls,
      chainId: node.chainId ?? null,
      nativeAsset: nativeAsset(chain),
      tokens: tokensOf(network, node),
      metrics,
    })
  }
  if (chain.family === 'solana') {
    return createSolanaClient({
      chain,
      mode,
      rpcUrls: node.rpcUrls,
      genesis: node.genesis ?? null,
      nativeAsset: nativeAsset(chain),
      tokens: tokensOf(network, node),
      metrics,
    })
  }
  if (chain.outputs !== undefined) {
    return createUtxoClient({
      chain,
      rules: chain.outputs,
      mode,
      rpcUrls: node.rpcUrls,
      genesis: node.genesis ?? chain.outputs.genesisHash[mode],
      asset: nativeAsset(chain),
      metrics,
    })
  }
  if (chain.chainIds === null) return null
  const chainId = node.chainId ?? chain.chainIds[mode]
  return createEvmClient({
    chain,
    mode,
    rpcUrls: node.rpcUrls,
    chainId,
    internal: internalMoves(chain, node, chainId === chain.chainIds[mode]),
    nativeAsset: nativeAsset(chain),
    tokens: tokensOf(network, node),
    metrics,
  })
}

/** A local chain has none of the network's own logs: there only traces show what moves inside of calls. */
function internalMoves({ coinLedger = 'none' }: ChainDefinition, node: NodeSettings, isPublic: boolean): InternalMoves {
  const demanded = node.coinLedger ?? null
  if (demanded !== null) return { ledger: demanded, required: true }
  return { ledger: coinLedger === 'logs' && !isPublic ? 'trace' : coinLedger, required: false }
}

function nativeAsset(chain: ChainDefinition): AssetId {
  const asset = ASSET_IDS.find((id) => networkOf(id) === chain.id && symbolOf(id) === chain.nativeSymbol)
  if (asset === undefined) throw new TypeError(`no asset row for the coin of ${chain.id}`)
  return asset
}

function tokensOf(network: NetworkId, node: NodeSettings): readonly EvmToken[] {
  return ASSET_IDS.filter((id) => networkOf(id) === network).flatMap((asset) => {
    const row: AssetRow = ASSETS[asset]
    const contract = row.contract === null ? null : (node.contracts?.[asset] ?? row.contract)
    return contract === null ? [] : [{ asset, contract, decimals: row.decimals }]
  })
}
