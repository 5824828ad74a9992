import type { ChainDefinition } from '../chain.ts'

/** Litecoin. Six confirmations also cover the maturity of MWEB peg-outs. */
export const litecoin: ChainDefinition = {
  id: 'litecoin',
  family: 'litecoin',
  name: 'Litecoin',
  chainIds: null,
  nativeSymbol: 'LTC',
  blockTimeMs: 150_000,
  confirmations: 6,
  confirmsByFinality: false,
  finalityDepth: 100,
  logsRangeMax: 1,
  explorerTx: { live: 'https://litecoinspace.org/tx/{tx}', test: 'https://litecoinspace.org/testnet/tx/{tx}' },
  uriScheme: 'litecoin',
  addressPrefix: { live: { kind: 'bech32', hrp: 'ltc' }, test: { kind: 'bech32', hrp: 'tltc' } },
  siblings: [],
}
