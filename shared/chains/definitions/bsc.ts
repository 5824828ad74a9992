import type { ChainDefinition } from '../chain.ts'

/** BNB Smart Chain. Tokens here have 18 decimals. */
export const bsc: ChainDefinition = {
  id: 'bsc',
  family: 'evm',
  name: 'BNB Smart Chain',
  chainIds: { live: 56, test: 97 },
  nativeSymbol: 'BNB',
  blockTimeMs: 450,
  confirmations: 15,
  confirmsByFinality: false,
  finalityDepth: 64,
  scanBatchMax: 100,
  explorerTx: { live: 'https://bscscan.com/tx/{tx}', test: 'https://testnet.bscscan.com/tx/{tx}' },
  uriScheme: 'ethereum',
  addressPrefix: null,
  coinLedger: 'trace',
  siblings: [],
}
