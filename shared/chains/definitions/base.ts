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
  checked: {
    on: '2026-11-28',
    source:
      'docs.base.org, Denim: 200 ms blocks, live 2026-11-05 18:00 UTC (docs.chainstack.com/docs/base-denim-200ms-blocks)',
  },
  blockTimeMs: 200,
  risk: 'One sequencer orders blocks: it can replace those that are not in a batch on Ethereum yet, by failure or by will.',
  confirmations: { ms: 20_000, blocksMin: 10 },
  confirmationTiers: [
    { fromUsd: 0, confirmations: { ms: 20_000, blocksMin: 10 } },
    { fromUsd: 10_000, confirmations: 'finalized' },
  ],
  confirmsByFinality: false,
  finalizesAfterMs: 960_000,
  reorganisation: { ms: 512_000, blocksMin: 256 },
  scanBatchMax: 100,
  explorerTx: { live: 'https://basescan.org/tx/{tx}', test: 'https://sepolia.basescan.org/tx/{tx}' },
  publicRpc: { live: 'https://mainnet.base.org', test: 'https://sepolia.base.org' },
  uriScheme: 'ethereum',
  addressPrefix: null,
  // Predeploy of every OP-stack chain (specs.optimism.io, predeploys).
  l1FeeOracle: '0x420000000000000000000000000000000000000F',
  siblings: SIBLINGS.base,
}
