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
  checked: {
    on: '2026-11-28',
    source:
      'docs.arbitrum.io (ArbOS 61 of 2026-08-20 changes no pace); 18 blocks in 4 s at height 506,697,453 (swiftnodes.io, Arbitrum RPC guide)',
  },
  blockTimeMs: 250,
  risk: 'One sequencer orders blocks: it can replace those that are not in a batch on Ethereum yet, by failure or by will.',
  confirmations: { ms: 10_000, blocksMin: 40 },
  confirmationTiers: [
    { fromUsd: 0, confirmations: { ms: 10_000, blocksMin: 40 } },
    { fromUsd: 10_000, confirmations: 'finalized' },
  ],
  confirmsByFinality: false,
  finalizesAfterMs: 960_000,
  reorganisation: { ms: 120_000, blocksMin: 480 },
  scanBatchMax: 200,
  explorerTx: { live: 'https://arbiscan.io/tx/{tx}', test: 'https://sepolia.arbiscan.io/tx/{tx}' },
  publicRpc: { live: 'https://arb1.arbitrum.io/rpc', test: 'https://sepolia-rollup.arbitrum.io/rpc' },
  uriScheme: 'ethereum',
  addressPrefix: null,
  numbersAreParents: true,
  siblings: SIBLINGS.arbitrum,
}
