import { NETWORKS } from '#shared/domain/networks.ts'
import type { ChainDefinition } from './chain.ts'

/** Arbitrum One. USDC.e is the bridged token that came before Circle's own. Test: Arbitrum Sepolia. */
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
  uriScheme: 'ethereum',
  addressPrefix: null,
  coinLedger: 'trace',
  // DAI: @uniswap/default-token-list 22.21.0.
  siblings: [
    { symbol: 'USDC.e', contract: '0xFF970A61A04b1cA14834A43f5dE4533eBDDB5CC8' },
    { symbol: 'DAI', contract: '0xDA10009cBd5D07dd0CeCc66161FC93D7c9000da1' },
  ],
}
