import { NETWORKS } from '#shared/domain/networks.ts'
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
  uriScheme: 'ethereum',
  addressPrefix: null,
  coinLedger: 'trace',
  // What exchanges hand out over this network for ether, bitcoin and POL, and other dollars.
  // @uniswap/default-token-list 22.21.0; BTCB and FDUSD: bscscan.com.
  siblings: [
    { symbol: 'ETH (Binance-Peg)', contract: '0x2170Ed0880ac9A755fd29B2688956BD959F933F8' },
    { symbol: 'BTCB', contract: '0x7130d2A12B9BCbFAe4f2634d864A1Ee1Ce3Ead9c' },
    { symbol: 'MATIC (Binance-Peg)', contract: '0xCC42724C6683B7E57334c4E856f4c9965ED682bD' },
    { symbol: 'BUSD', contract: '0xe9e7CEA3DedcA5984780Bafc599bD69ADd087D56' },
    { symbol: 'FDUSD', contract: '0xc5f0f7b66764F6ec8C8Dff7BA683102295E16409' },
    { symbol: 'DAI (Binance-Peg)', contract: '0x1AF3F329e8BE154074D8769D1FFa4eE058B1DBc3' },
  ],
}
