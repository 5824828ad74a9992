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
  blockTimeMs: 2_000,
  confirmations: 64,
  confirmationTiers: [
    { fromUsd: 0, confirmations: 64 },
    { fromUsd: 10_000, confirmations: 'finalized' },
  ],
  confirmsByFinality: false,
  finalizesAfterMs: 10_000,
  finalityDepth: 256,
  scanBatchMax: 100,
  explorerTx: { live: 'https://polygonscan.com/tx/{tx}', test: 'https://amoy.polygonscan.com/tx/{tx}' },
  publicRpc: { live: 'https://polygon-bor-rpc.publicnode.com', test: 'https://rpc-amoy.polygon.technology' },
  uriScheme: 'ethereum',
  addressPrefix: null,
  logsCoins: true,
  siblings: SIBLINGS.polygon,
}
