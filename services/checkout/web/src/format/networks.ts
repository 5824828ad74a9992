import type { NetworkId } from '#shared/domain/enumerations.ts'

/** How wallets and exchanges call a network, and what they write behind its tokens. */
export const NETWORKS: Readonly<Record<NetworkId, { readonly name: string; readonly standard: string | null }>> = {
  bitcoin: { name: 'Bitcoin', standard: null },
  litecoin: { name: 'Litecoin', standard: null },
  dogecoin: { name: 'Dogecoin', standard: null },
  ethereum: { name: 'Ethereum', standard: 'ERC-20' },
  bsc: { name: 'BNB Smart Chain', standard: 'BEP-20' },
  polygon: { name: 'Polygon', standard: 'POS' },
  base: { name: 'Base', standard: null },
  arbitrum: { name: 'Arbitrum One', standard: null },
  tron: { name: 'TRON', standard: 'TRC-20' },
  solana: { name: 'Solana', standard: 'SPL' },
}

/** The network in words: `TRON (TRC-20)` for tokens, the bare name for its own coin. */
export function networkText(network: NetworkId, isToken: boolean): string {
  const { name, standard } = NETWORKS[network]
  return isToken && standard !== null ? `${name} (${standard})` : name
}
