import { NETWORKS } from '#shared/domain/networks.ts'
import { SIBLINGS } from './assets.ts'
import type { ChainDefinition } from './chain.ts'

/** Solana. Confirmed by the commitment `finalized`, which Alpenglow made the same as `confirmed`, not by a count. Test: devnet. */
export const solana: ChainDefinition = {
  id: 'solana',
  family: 'solana',
  name: NETWORKS.solana.name,
  chainIds: null,
  nativeSymbol: NETWORKS.solana.nativeSymbol,
  checked: {
    on: '2026-11-28',
    source:
      'solana.com, getAgGenesisCert: Alpenglow since slot 459,652,999 (epoch 1064, 2026-10-21), final after about 150 ms (docs/defi/finality); SIMD-0525: 350 ms since epoch 1020, 300 ms since epoch 1024 (helius.dev, Agave 4.2), then 250 and 200 ms; epochs 1024 to 1064 took 270 ms a slot on average',
  },
  blockTimeMs: 250,
  risk: 'A block counts from its finalization certificate on, which only validators with more than a fifth of the stake could contradict.',
  confirmations: { ms: 150, blocksMin: 1 },
  confirmationTiers: [{ fromUsd: 0, confirmations: { ms: 150, blocksMin: 1 } }],
  confirmsByFinality: true,
  finalizesAfterMs: 150,
  reorganisation: { ms: 16_000, blocksMin: 64 },
  scanBatchMax: 50,
  explorerTx: { live: 'https://solscan.io/tx/{tx}', test: 'https://solscan.io/tx/{tx}?cluster=devnet' },
  walletChains: { live: 'solana:mainnet', test: 'solana:devnet', local: 'solana:localnet' },
  uriScheme: 'solana',
  addressPrefix: null,
  siblings: SIBLINGS.solana,
}
