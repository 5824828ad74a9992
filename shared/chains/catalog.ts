import { ASSET_IDS, type AssetId, type Mode, type NetworkId, networkOf, symbolOf } from '#shared/domain/enumerations.ts'
import { parseUnits } from '#shared/domain/money/amount.ts'
import type { AssetInfo, Catalog } from '#shared/ports/chain-catalog.ts'
import { paymentUri } from './addresses/payment-uri.ts'
import { ASSETS } from './definitions/assets.ts'
import type { AssetRow, ChainDefinition, NetworkSettings } from './definitions/chain.ts'
import { CHAINS } from './definitions/registry.ts'

/**
 * The registry with this installation's network settings applied: chain ids, contracts and confirmations that a
 * mode's settings name replace the registry's. Everything is answered from memory.
 */
export function createCatalog(networks: NetworkSettings): Catalog {
  const infos = new Map<AssetId, AssetInfo>(ASSET_IDS.map((id) => [id, assetInfo(id)]))
  const settings = (id: AssetId, mode: Mode) => networks[mode][networkOf(id)]

  function contract(id: AssetId, mode: Mode): string | null {
    const row: AssetRow = ASSETS[id]
    return row.contract === null ? null : (settings(id, mode)?.contracts?.[id] ?? row.contract)
  }

  function chainId(network: NetworkId, mode: Mode): number | null {
    const { chainIds } = CHAINS[network]
    return chainIds === null ? null : (networks[mode][network]?.chainId ?? chainIds[mode])
  }

  return {
    asset(id) {
      const info = infos.get(id)
      if (info === undefined) throw new TypeError(`no asset ${id}`)
      return info
    },
    contract,
    confirmations: (id, mode) => settings(id, mode)?.confirmations ?? CHAINS[networkOf(id)].confirmations,
    confirmationTiers(id, mode) {
      // What an installation sets for a network is meant for every value.
      const own = settings(id, mode)?.confirmations
      return own == null ? CHAINS[networkOf(id)].confirmationTiers : [{ fromUsd: 0, confirmations: own }]
    },
    finalizesAfterMs: (network) => CHAINS[network].finalizesAfterMs,
    needsFinality: (network) => CHAINS[network].confirmsByFinality,
    // Where coins are outputs, work alone decides, and no block is ever more than very deep.
    knowsFinality: (network) => (CHAINS[network] as ChainDefinition).outputs === undefined,
    hasNode: (network, mode) => networks[mode][network] !== undefined,
    blockTimeMs: (network) => CHAINS[network].blockTimeMs,
    chainId,
    paymentUri({ asset, mode, address, amount, amountBase, reference }) {
      const chain = CHAINS[networkOf(asset)]
      // Wallets refuse, or worse round, what the asset cannot express.
      parseUnits(amount, ASSETS[asset].decimals)
      return paymentUri({
        chain,
        contract: contract(asset, mode),
        chainId: chainId(networkOf(asset), mode),
        address,
        amount,
        amountBase,
        reference: reference ?? null,
      })
    },
    explorerTxUrl(network, mode, txHash) {
      const { chainIds, explorerTx } = CHAINS[network]
      const chainId = networks[mode][network]?.chainId ?? null
      // A local chain is in nobody's explorer: a link there would show nothing, or a stranger's payment.
      if ((networks[mode][network]?.genesis ?? null) !== null) return null
      if (chainId !== null && chainIds !== null && chainId !== chainIds[mode]) return null
      return explorerTx[mode]?.replace('{tx}', txHash) ?? null
    },
  }
}

function assetInfo(id: AssetId): AssetInfo {
  const row: AssetRow = ASSETS[id]
  const network = networkOf(id)
  return {
    id,
    network,
    family: CHAINS[network].family,
    symbol: symbolOf(id),
    name: row.name,
    decimals: row.decimals,
    displayDecimals: row.displayDecimals,
    minBase: parseUnits(row.minimum, row.decimals),
    dustBase: parseUnits(row.dust, row.decimals),
  }
}
