import { NETWORKS } from '#shared/domain/networks.ts'
import type { ChainDefinition } from './chain.ts'

/** Solana. Confirmed by commitment `finalized` (32 blocks above), not by counting. Test: devnet. */
export const solana: ChainDefinition = {
  id: 'solana',
  family: 'solana',
  name: NETWORKS.solana.name,
  chainIds: null,
  nativeSymbol: NETWORKS.solana.nativeSymbol,
  blockTimeMs: 400,
  confirmations: 32,
  confirmationTiers: [{ fromUsd: 0, confirmations: 32 }],
  confirmsByFinality: true,
  finalizesAfterMs: 13_000,
  finalityDepth: 64,
  scanBatchMax: 50,
  explorerTx: { live: 'https://solscan.io/tx/{tx}', test: 'https://solscan.io/tx/{tx}?cluster=devnet' },
  uriScheme: 'solana',
  addressPrefix: null,
  // Wrapped SOL lies in a token account, where no wallet shows it as SOL (spl.solana.com/token, "Wrapping SOL").
  siblings: [{ symbol: 'WSOL', contract: 'So11111111111111111111111111111111111111112' }],
}
