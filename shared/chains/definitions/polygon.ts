import { NETWORKS } from '#shared/domain/networks.ts'
import { SIBLINGS } from './assets.ts'
import type { ChainDefinition } from './chain.ts'

/** Polygon. USDC.e is the bridged token that preceded Circle's own. Test: Amoy. */
export const polygon: ChainDefinition = {
  id: 'polygon',
  family: 'evm',
  name: NETWORKS.polygon.name,
  chainIds: { live: 137, test: 80_002 },
  nativeSymbol: NETWORKS.polygon.nativeSymbol,
  checked: {
    on: '2026-11-28',
    source:
      'PIP-86 (final 2026-06-09): 2 s to 1.75 s to 1.5 s; PIP-75: producers may go down to 1 s without a fork; milestones finalize in 2 to 5 s (docs.polygon.technology, finality)',
  },
  blockTimeMs: 1_500,
  risk: 'Until a milestone of two thirds of the stake covers it, a block can lose to another producer’s.',
  confirmations: { ms: 128_000, blocksMin: 64 },
  confirmationTiers: [
    { fromUsd: 0, confirmations: { ms: 128_000, blocksMin: 64 } },
    { fromUsd: 10_000, confirmations: 'finalized' },
  ],
  confirmsByFinality: false,
  finalizesAfterMs: 5_000,
  reorganisation: { ms: 512_000, blocksMin: 256 },
  scanBatchMax: 100,
  explorerTx: { live: 'https://polygonscan.com/tx/{tx}', test: 'https://amoy.polygonscan.com/tx/{tx}' },
  publicRpc: { live: 'https://polygon-bor-rpc.publicnode.com', test: 'https://rpc-amoy.polygon.technology' },
  uriScheme: 'ethereum',
  addressPrefix: null,
  logsCoins: true,
  siblings: SIBLINGS.polygon,
}
