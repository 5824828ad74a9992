import { NETWORKS } from '#shared/domain/networks.ts'
import type { ChainDefinition } from './chain.ts'

/** Dogecoin. No segwit: P2PKH only; figures from Dogecoin Core's chainparams. */
export const dogecoin: ChainDefinition = {
  id: 'dogecoin',
  family: 'dogecoin',
  name: NETWORKS.dogecoin.name,
  chainIds: null,
  nativeSymbol: NETWORKS.dogecoin.nativeSymbol,
  checked: {
    on: '2026-11-28',
    source: 'Dogecoin Core, chainparams: one block a minute',
  },
  blockTimeMs: 60_000,
  risk: 'Merged mining with Litecoin: whoever has more than half of that hash rate replaces blocks.',
  confirmations: { ms: 2_400_000, blocksMin: 40 },
  confirmationTiers: [
    { fromUsd: 0, confirmations: { ms: 2_400_000, blocksMin: 40 } },
    { fromUsd: 10_000, confirmations: { ms: 3_600_000, blocksMin: 60 } },
  ],
  confirmsByFinality: false,
  finalizesAfterMs: null,
  reorganisation: { ms: 14_400_000, blocksMin: 240 },
  scanBatchMax: 20,
  explorerTx: { live: 'https://blockchair.com/dogecoin/transaction/{tx}', test: null },
  uriScheme: 'dogecoin',
  addressPrefix: { live: { kind: 'base58', version: 0x1e }, test: { kind: 'base58', version: 0x71 } },
  siblings: [],
  outputs: {
    genesisHash: {
      live: '1a91e3dace36e2be3bf030a65679fe821aa1d6ef92e7c9902eb318182c355691',
      test: 'bb0a78264637406b6360aad926284d544d7049f45189db5664f3c4d07350559e',
    },
    pubKeyHashVersion: { live: 0x1e, test: 0x71 },
    scriptHashVersion: { live: 0x16, test: 0xc4 },
    coinbaseMaturity: 240,
    auxPow: true,
    mweb: false,
  },
}
