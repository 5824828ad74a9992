import type { ChainDefinition } from '../chain.ts'

/** Solana. Confirmed by commitment `finalized` (32 blocks above), not by counting. Test: devnet. */
export const solana: ChainDefinition = {
  id: 'solana',
  family: 'solana',
  name: 'Solana',
  chainIds: null,
  nativeSymbol: 'SOL',
  blockTimeMs: 400,
  confirmations: 32,
  confirmsByFinality: true,
  finalityDepth: 64,
  logsRangeMax: 1,
  explorerTx: { live: 'https://solscan.io/tx/{tx}', test: 'https://solscan.io/tx/{tx}?cluster=devnet' },
  uriScheme: 'solana',
  addressPrefix: null,
  siblings: [],
}
