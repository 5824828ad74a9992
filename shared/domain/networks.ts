/** What people read of a network. */
interface NetworkFacts {
  /** As wallets and exchanges name it. */
  readonly name: string
  /** Symbol of its own coin. */
  readonly nativeSymbol: string
  /** What they write behind its tokens (`USDT (TRC-20)`); null where they write nothing. */
  readonly standard: string | null
  /** Its addresses look like those of a better known network, so that payers send on that one. */
  readonly hasLookalikes: boolean
  /** Place in the payer's list of networks for one coin, ascending: usual and cheap ones first. */
  readonly payerOrder: number
}

/** Every network by id, in the order of the interface specification. Its technical figures are in `shared/chains/definitions`. */
export const NETWORKS = {
  bitcoin: { name: 'Bitcoin', nativeSymbol: 'BTC', standard: null, hasLookalikes: false, payerOrder: 8 },
  litecoin: { name: 'Litecoin', nativeSymbol: 'LTC', standard: null, hasLookalikes: false, payerOrder: 9 },
  dogecoin: { name: 'Dogecoin', nativeSymbol: 'DOGE', standard: null, hasLookalikes: false, payerOrder: 10 },
  ethereum: { name: 'Ethereum', nativeSymbol: 'ETH', standard: 'ERC-20', hasLookalikes: false, payerOrder: 7 },
  bsc: { name: 'BNB Smart Chain', nativeSymbol: 'BNB', standard: 'BEP-20', hasLookalikes: true, payerOrder: 2 },
  polygon: { name: 'Polygon', nativeSymbol: 'POL', standard: 'POS', hasLookalikes: true, payerOrder: 3 },
  base: { name: 'Base', nativeSymbol: 'ETH', standard: null, hasLookalikes: true, payerOrder: 4 },
  arbitrum: { name: 'Arbitrum One', nativeSymbol: 'ETH', standard: null, hasLookalikes: true, payerOrder: 5 },
  tron: { name: 'TRON', nativeSymbol: 'TRX', standard: 'TRC-20', hasLookalikes: false, payerOrder: 1 },
  solana: { name: 'Solana', nativeSymbol: 'SOL', standard: 'SPL', hasLookalikes: false, payerOrder: 6 },
} as const satisfies Readonly<Record<string, NetworkFacts>>

export type NetworkId = keyof typeof NETWORKS

/** The network with the standard of its tokens: `TRON (TRC-20)`; the name alone for its own coin. */
export function networkText(network: NetworkId, isToken: boolean): string {
  const { name, standard } = NETWORKS[network]
  return isToken && standard !== null ? `${name} (${standard})` : name
}
