import { NETWORKS } from '#shared/domain/networks.ts'
import type { ChainDefinition } from './chain.ts'

/** Polygon. USDC.e is the bridged token that came before Circle's own. Test: Amoy. */
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
  uriScheme: 'ethereum',
  addressPrefix: null,
  coinLedger: 'logs',
  // Exchanges hand out WETH for ether over this network. DAI, WETH: @uniswap/default-token-list 22.21.0.
  siblings: [
    { symbol: 'USDC.e', contract: '0x2791Bca1f2de4661ED88A30C99A7a9449Aa84174' },
    { symbol: 'DAI', contract: '0x8f3Cf7ad23Cd3CaDbD9735AFf958023239c6A063' },
    { symbol: 'WETH', contract: '0x7ceB23fD6bC0adD59E62ac25578270cFf1b9f619' },
  ],
}
