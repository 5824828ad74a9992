import { NETWORKS } from '#shared/domain/networks.ts'
import { SIBLINGS } from './assets.ts'
import type { ChainDefinition } from './chain.ts'

/** Solana. Confirmed by the commitment `finalized` (32 blocks above), not by a count. Test: devnet. */
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
  walletChains: { live: 'solana:mainnet', test: 'solana:devnet', local: 'solana:localnet' },
  uriScheme: 'solana',
  addressPrefix: null,
  siblings: SIBLINGS.solana,
}
