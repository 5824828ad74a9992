import { NETWORKS } from '#shared/domain/networks.ts'
import type { ChainDefinition } from './chain.ts'

/** Litecoin; test: testnet4. Six confirmations also cover the maturity of MWEB peg-outs. Figures: Litecoin Core's chainparams. */
export const litecoin: ChainDefinition = {
  id: 'litecoin',
  family: 'litecoin',
  name: NETWORKS.litecoin.name,
  chainIds: null,
  nativeSymbol: NETWORKS.litecoin.nativeSymbol,
  checked: {
    on: '2026-11-28',
    source: 'Litecoin Core, chainparams: one block in two and a half minutes',
  },
  blockTimeMs: 150_000,
  risk: 'Whoever has more than half of the hash rate, or luck with less, replaces blocks: the work of so much time must be done again.',
  confirmations: { ms: 900_000, blocksMin: 6 },
  confirmationTiers: [
    { fromUsd: 0, confirmations: { ms: 900_000, blocksMin: 6 } },
    { fromUsd: 10_000, confirmations: { ms: 1_800_000, blocksMin: 12 } },
  ],
  confirmsByFinality: false,
  finalizesAfterMs: null,
  reorganisation: { ms: 15_000_000, blocksMin: 100 },
  scanBatchMax: 20,
  explorerTx: { live: 'https://litecoinspace.org/tx/{tx}', test: 'https://litecoinspace.org/testnet/tx/{tx}' },
  uriScheme: 'litecoin',
  addressPrefix: { live: { kind: 'bech32', hrp: 'ltc' }, test: { kind: 'bech32', hrp: 'tltc' } },
  siblings: [],
  outputs: {
    genesisHash: {
      live: '12a765e31ffd4059bada1e25190f6e98c99d9714d334efa41a195a7e7e04bfe2',
      test: '4966625a4b2851d9fdee139e56211a0d88575f59ed816ff5e6a63deb4e3e29a0',
    },
    pubKeyHashVersion: { live: 0x30, test: 0x6f },
    scriptHashVersion: { live: 0x32, test: 0x3a },
    coinbaseMaturity: 100,
    auxPow: false,
    mweb: true,
  },
}
