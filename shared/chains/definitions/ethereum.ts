import { NETWORKS } from '#shared/domain/networks.ts'
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
  uriScheme: 'ethereum',
  addressPrefix: null,
  coinLedger: 'trace',
  // Other dollars, what exchanges hand out for POL over Ethereum, and wrapped ether, which wallets do not show as ETH.
  // @uniswap/default-token-list 22.21.0; FDUSD: etherscan.io.
  siblings: [
    { symbol: 'DAI', contract: '0x6B175474E89094C44Da98b954EedeAC495271d0F' },
    { symbol: 'BUSD', contract: '0x4Fabb145d64652a948d72533023f6E7A623C7C53' },
    { symbol: 'FDUSD', contract: '0xc5f0f7b66764F6ec8C8Dff7BA683102295E16409' },
    { symbol: 'PYUSD', contract: '0x6c3ea9036406852006290770BEdFcAbA0e23A0e8' },
    { symbol: 'POL', contract: '0x455e53CBB86018Ac2B8092FdCd39d8444aFFC3F6' },
    { symbol: 'MATIC', contract: '0x7D1AfA7B718fb893dB30A3aBc0Cfc608AaCfeBB0' },
    { symbol: 'WETH', contract: '0xC02aaA39b223FE8D0A0e5C4F27eAD9083C756Cc2' },
  ],
}
