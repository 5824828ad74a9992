import { NETWORKS } from '#shared/domain/networks.ts'
import { SIBLINGS } from './assets.ts'
import type { ChainDefinition } from './chain.ts'

/** BNB Smart Chain. Tokens here have 18 decimals. */
export const bsc: ChainDefinition = {
  id: 'bsc',
  family: 'evm',
  name: NETWORKS.bsc.name,
  chainIds: { live: 56, test: 97 },
  nativeSymbol: NETWORKS.bsc.nativeSymbol,
  checked: {
    on: '2026-11-28',
    source:
      'docs.bnbchain.org/announce/fermi-bsc: 450 ms since 2026-01-14; bsc v1.8.2 (Jenner, 2026-12-08) changes no pace; finality two blocks later (BEP-126)',
  },
  blockTimeMs: 450,
  risk: 'Validators that vote for a block make it final two blocks later; without their votes the longest chain of 21 validators counts.',
  confirmations: { ms: 6_750, blocksMin: 15 },
  confirmationTiers: [
    { fromUsd: 0, confirmations: { ms: 6_750, blocksMin: 15 } },
    { fromUsd: 10_000, confirmations: 'finalized' },
  ],
  confirmsByFinality: false,
  finalizesAfterMs: 1_350,
  reorganisation: { ms: 28_800, blocksMin: 64 },
  scanBatchMax: 100,
  explorerTx: { live: 'https://bscscan.com/tx/{tx}', test: 'https://testnet.bscscan.com/tx/{tx}' },
  publicRpc: { live: 'https://bsc-dataseed.bnbchain.org', test: 'https://data-seed-prebsc-1-s1.bnbchain.org:8545' },
  uriScheme: 'ethereum',
  addressPrefix: null,
  siblings: SIBLINGS.bsc,
}
