import type { ChainDefinition } from '../chain.ts'

/** Bitcoin. Address prefixes: BIP 173. */
export const bitcoin: ChainDefinition = {
  id: 'bitcoin',
  family: 'bitcoin',
  name: 'Bitcoin',
  chainIds: null,
  nativeSymbol: 'BTC',
  blockTimeMs: 600_000,
  confirmations: 2,
  confirmsByFinality: false,
  finalityDepth: 100,
  logsRangeMax: 1,
  explorerTx: { live: 'https://mempool.space/tx/{tx}', test: 'https://mempool.space/testnet4/tx/{tx}' },
  uriScheme: 'bitcoin',
  addressPrefix: { live: { kind: 'bech32', hrp: 'bc' }, test: { kind: 'bech32', hrp: 'tb' } },
  siblings: [],
}
