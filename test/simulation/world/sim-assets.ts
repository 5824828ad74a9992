import type { AssetId, NetworkId } from '#shared/domain/enumerations.ts'

const ASSETS: Partial<Record<NetworkId, readonly AssetId[]>> = {
  bitcoin: ['btc_bitcoin'],
  ethereum: ['usdt_ethereum', 'eth_ethereum'],
  tron: ['usdt_tron', 'trx_tron'],
  solana: ['usdc_solana', 'sol_solana', 'usdt_solana'],
}

/** What payers pay with on a network of the simulation. */
export const assetsOf = (network: NetworkId): readonly AssetId[] => ASSETS[network] ?? []
