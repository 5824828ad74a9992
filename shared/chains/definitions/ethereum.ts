import { NETWORKS } from '#shared/domain/networks.ts'
import { SIBLINGS } from './assets.ts'
import type { ChainDefinition } from './chain.ts'

/** Ethereum. Finality after two epochs, about 65 blocks. Test: Sepolia. */
export const ethereum: ChainDefinition = {
  id: 'ethereum',
  family: 'evm',
  name: NETWORKS.ethereum.name,
  chainIds: { live: 1, test: 11_155_111 },
  nativeSymbol: NETWORKS.ethereum.nativeSymbol,
  blockTimeMs: 12_000,
  confirmations: 12,
  confirmationTiers: [
    { fromUsd: 0, confirmations: 12 },
    { fromUsd: 10_000, confirmations: 'finalized' },
  ],
  confirmsByFinality: false,
  finalizesAfterMs: 900_000,
  finalityDepth: 65,
  scanBatchMax: 100,
  explorerTx: { live: 'https://etherscan.io/tx/{tx}', test: 'https://sepolia.etherscan.io/tx/{tx}' },
  publicRpc: { live: 'https://ethereum-rpc.publicnode.com', test: 'https://ethereum-sepolia-rpc.publicnode.com' },
  uriScheme: 'ethereum',
  addressPrefix: null,
  siblings: SIBLINGS.ethereum,
}
