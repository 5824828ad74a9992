import type { ChainDefinition } from '../chain.ts'

/** TRON. Nineteen of 27 producers above a block make it solid; a solid block never rolls back. Test: Nile. */
export const tron: ChainDefinition = {
  id: 'tron',
  family: 'tron',
  name: 'TRON',
  chainIds: null,
  nativeSymbol: 'TRX',
  blockTimeMs: 3_000,
  confirmations: 19,
  confirmsByFinality: true,
  finalityDepth: 27,
  logsRangeMax: 1,
  explorerTx: { live: 'https://tronscan.org/#/transaction/{tx}', test: 'https://nile.tronscan.org/#/transaction/{tx}' },
  uriScheme: 'tron',
  addressPrefix: null,
  siblings: [],
}
