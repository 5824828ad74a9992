/** Facts about a network as shown to people. */
interface NetworkFacts {
  /** Its name in wallets and exchanges. */
  readonly name: string
  /** Symbol of its native coin. */
  readonly nativeSymbol: string
  /** Name of its drawn mark: that of its coin, unless other networks have the same coin. */
  readonly mark: string
  /** Suffix of its tokens in wallets and exchanges (`USDT (TRC-20)`); null without one. */
  readonly standard: string | null
  /** Its addresses look like those of a better known network, so that payers may send on that one. */
  readonly hasLookalikes: boolean
  /** Its public testnets, by the ids of the settings; test mode uses the first unless the settings name another. */
  readonly testnets: readonly [string, ...string[]]
  /** Position in the payer's list of networks for one coin, ascending: usual and cheap ones first. */
  readonly payerOrder: number
}

/** Every network by id, in the order of the interface specification. Its technical figures are in `shared/chains/definitions`. */
export const NETWORKS = {
  bitcoin: {
    name: 'Bitcoin',
    nativeSymbol: 'BTC',
    mark: 'BTC',
    standard: null,
    hasLookalikes: false,
    testnets: ['testnet4', 'signet'],
    payerOrder: 8,
  },
  litecoin: {
    name: 'Litecoin',
    nativeSymbol: 'LTC',
    mark: 'LTC',
    standard: null,
    hasLookalikes: false,
    testnets: ['testnet'],
    payerOrder: 9,
  },
  dogecoin: {
    name: 'Dogecoin',
    nativeSymbol: 'DOGE',
    mark: 'DOGE',
    standard: null,
    hasLookalikes: false,
    testnets: ['testnet'],
    payerOrder: 10,
  },
  ethereum: {
    name: 'Ethereum',
    nativeSymbol: 'ETH',
    mark: 'ETH',
    standard: 'ERC-20',
    hasLookalikes: false,
    testnets: ['sepolia'],
    payerOrder: 7,
  },
  bsc: {
    name: 'BNB Smart Chain',
    nativeSymbol: 'BNB',
    mark: 'BNB',
    standard: 'BEP-20',
    hasLookalikes: true,
    testnets: ['testnet'],
    payerOrder: 2,
  },
  polygon: {
    name: 'Polygon',
    nativeSymbol: 'POL',
    mark: 'POL',
    standard: 'POS',
    hasLookalikes: true,
    testnets: ['amoy'],
    payerOrder: 3,
  },
  base: {
    name: 'Base',
    nativeSymbol: 'ETH',
    mark: 'BASE',
    standard: null,
    hasLookalikes: true,
    testnets: ['sepolia'],
    payerOrder: 4,
  },
  arbitrum: {
    name: 'Arbitrum One',
    nativeSymbol: 'ETH',
    mark: 'ARB',
    standard: null,
    hasLookalikes: true,
    testnets: ['sepolia'],
    payerOrder: 5,
  },
  tron: {
    name: 'TRON',
    nativeSymbol: 'TRX',
    mark: 'TRX',
    standard: 'TRC-20',
    hasLookalikes: false,
    testnets: ['nile'],
    payerOrder: 1,
  },
  solana: {
    name: 'Solana',
    nativeSymbol: 'SOL',
    mark: 'SOL',
    standard: 'SPL',
    hasLookalikes: false,
    testnets: ['devnet'],
    payerOrder: 6,
  },
} as const satisfies Readonly<Record<string, NetworkFacts>>

export type NetworkId = keyof typeof NETWORKS

/** Ids of all public testnets; several networks have one of the same id. */
export const TESTNET_IDS = [
  ...new Set(Object.values(NETWORKS).flatMap(({ testnets }): readonly TestnetId[] => testnets)),
]
export type TestnetId = (typeof NETWORKS)[NetworkId]['testnets'][number]

/** The network with the standard of its tokens: `TRON (TRC-20)`; the name alone for its native coin. */
export function networkText(network: NetworkId, isToken: boolean): string {
  const { name, standard } = NETWORKS[network]
  return isToken && standard !== null ? `${name} (${standard})` : name
}
