import { NETWORKS } from '#shared/domain/networks.ts'
import type { ChainDefinition } from './chain.ts'

/** Base. USDbC is the bridged token that came before Circle's own. Test: Base Sepolia. */
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
  uriScheme: 'ethereum',
  addressPrefix: null,
  coinLedger: 'trace',
  // Bridged Tether is no asset of ours here. USDT: basescan.org; DAI: @uniswap/default-token-list 22.21.0.
  siblings: [
    { symbol: 'USDbC', contract: '0xd9aAEc86B65D86f6A7B5B1b0c42FFA531710b6CA' },
    { symbol: 'USDT', contract: '0xfde4C96c8593536E31F229EA8f37b2ADa2699bb2' },
    { symbol: 'DAI', contract: '0x50c5725949A6F0c72E6C4a641F24049A917DB0Cb' },
  ],
}
