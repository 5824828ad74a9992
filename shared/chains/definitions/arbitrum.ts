import { NETWORKS } from '#shared/domain/networks.ts'
import { SIBLINGS } from './assets.ts'
import type { ChainDefinition } from './chain.ts'

/** Arbitrum One. USDC.e is the bridged token that preceded Circle's own. Test: Arbitrum Sepolia. */
export const arbitrum: ChainDefinition = {
  id: 'arbitrum',
  family: 'evm',
  name: NETWORKS.arbitrum.name,
  chainIds: { live: 42_161, test: 421_614 },
  nativeSymbol: NETWORKS.arbitrum.nativeSymbol,
  blockTimeMs: 250,
  confirmations: 40,
  confirmationTiers: [
    { fromUsd: 0, confirmations: 40 },
    { fromUsd: 10_000, confirmations: 'finalized' },
  ],
  confirmsByFinality: false,
  finalizesAfterMs: 960_000,
  finalityDepth: 480,
  scanBatchMax: 200,
  explorerTx: { live: 'https://arbiscan.io/tx/{tx}', test: 'https://sepolia.arbiscan.io/tx/{tx}' },
  publicRpc: { live: 'https://arb1.arbitrum.io/rpc', test: 'https://sepolia-rollup.arbitrum.io/rpc' },
  uriScheme: 'ethereum',
  addressPrefix: null,
  numbersAreParents: true,
  siblings: SIBLINGS.arbitrum,
}
