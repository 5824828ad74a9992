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
  blockTimeMs: 450,
  confirmations: 15,
  confirmationTiers: [
    { fromUsd: 0, confirmations: 15 },
    { fromUsd: 10_000, confirmations: 'finalized' },
  ],
  confirmsByFinality: false,
  finalizesAfterMs: 2_000,
  finalityDepth: 64,
  scanBatchMax: 100,
  explorerTx: { live: 'https://bscscan.com/tx/{tx}', test: 'https://testnet.bscscan.com/tx/{tx}' },
  publicRpc: { live: 'https://bsc-dataseed.bnbchain.org', test: 'https://data-seed-prebsc-1-s1.bnbchain.org:8545' },
  uriScheme: 'ethereum',
  addressPrefix: null,
  siblings: SIBLINGS.bsc,
}
