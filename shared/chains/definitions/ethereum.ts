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
  checked: {
    on: '2026-11-28',
    source:
      'eips.ethereum.org/EIPS/eip-7773 (Glamsterdam: no date on the main network, slots stay at 12 s); blog.ethereum.org 2026-09-17',
  },
  blockTimeMs: 12_000,
  risk: 'Until two epochs have voted for it, a block can lose to another branch: a few blocks by delay, more only if validators with a third of the stake misbehave.',
  confirmations: { ms: 144_000, blocksMin: 12 },
  confirmationTiers: [
    { fromUsd: 0, confirmations: { ms: 144_000, blocksMin: 12 } },
    { fromUsd: 10_000, confirmations: 'finalized' },
  ],
  confirmsByFinality: false,
  finalizesAfterMs: 900_000,
  reorganisation: { ms: 780_000, blocksMin: 65 },
  scanBatchMax: 100,
  explorerTx: { live: 'https://etherscan.io/tx/{tx}', test: 'https://sepolia.etherscan.io/tx/{tx}' },
  publicRpc: { live: 'https://ethereum-rpc.publicnode.com', test: 'https://ethereum-sepolia-rpc.publicnode.com' },
  uriScheme: 'ethereum',
  addressPrefix: null,
  siblings: SIBLINGS.ethereum,
}
