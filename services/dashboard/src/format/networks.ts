import type { NetworkId } from '#shared/domain/enumerations.ts'

const NAMES: Readonly<Record<NetworkId, string>> = {
  bitcoin: 'Bitcoin',
  litecoin: 'Litecoin',
  dogecoin: 'Dogecoin',
  ethereum: 'Ethereum',
  bsc: 'BNB Smart Chain',
  polygon: 'Polygon',
  base: 'Base',
  arbitrum: 'Arbitrum One',
  tron: 'TRON',
  solana: 'Solana',
}

/** The network in words. */
export function networkName(network: NetworkId): string {
  return NAMES[network]
}
