import { NETWORKS } from '#shared/domain/networks.ts'
import { SIBLINGS } from './assets.ts'
import type { ChainDefinition } from './chain.ts'

/** Base. USDbC is the bridged token that preceded Circle's own. Test: Base Sepolia. */
export const base: ChainDefinition = {
  id: 'base',
  family: 'evm',
  name: NETWORKS.base.name,
  chainIds: { live: 8453, test: 84_532 },
  nativeSymbol: NETWORKS.base.nativeSymbol,
  blockTimeMs: 2_000,
  confirmations: 10,
  confirmationTiers: [
    { fromUsd: 0, confirmations: 10 },
    { fromUsd: 10_000, confirmations: 'finalized' },
  ],
  confirmsByFinality: false,
  finalizesAfterMs: 960_000,
  finalityDepth: 256,
  scanBatchMax: 100,
  explorerTx: { live: 'https://basescan.org/tx/{tx}', test: 'https://sepolia.basescan.org/tx/{tx}' },
  publicRpc: { live: 'https://mainnet.base.org', test: 'https://sepolia.base.org' },
  uriScheme: 'ethereum',
  addressPrefix: null,
  // Predeploy of every OP-stack chain (specs.optimism.io, predeploys).
  l1FeeOracle: '0x420000000000000000000000000000000000000F',
  siblings: SIBLINGS.base,
}
