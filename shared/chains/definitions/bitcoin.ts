import { NETWORKS } from '#shared/domain/networks.ts'
import type { ChainDefinition } from './chain.ts'

/** Bitcoin; test: testnet4. Address prefixes: BIP 173; the other figures: Bitcoin Core's chainparams. */
export const bitcoin: ChainDefinition = {
  id: 'bitcoin',
  family: 'bitcoin',
  name: NETWORKS.bitcoin.name,
  chainIds: null,
  nativeSymbol: NETWORKS.bitcoin.nativeSymbol,
  checked: {
    on: '2026-11-28',
    source: 'Bitcoin Core, chainparams: one block in ten minutes',
  },
  blockTimeMs: 600_000,
  risk: 'Whoever has more than half of the hash rate, or luck with less, replaces blocks: the work of so much time must be done again.',
  confirmations: { ms: 1_200_000, blocksMin: 2 },
  confirmationTiers: [
    { fromUsd: 0, confirmations: { ms: 600_000, blocksMin: 1 } },
    { fromUsd: 100, confirmations: { ms: 1_200_000, blocksMin: 2 } },
    { fromUsd: 10_000, confirmations: { ms: 1_800_000, blocksMin: 3 } },
    { fromUsd: 100_000, confirmations: { ms: 3_600_000, blocksMin: 6 } },
  ],
  confirmsByFinality: false,
  finalizesAfterMs: null,
  reorganisation: { ms: 60_000_000, blocksMin: 100 },
  scanBatchMax: 5,
  explorerTx: { live: 'https://mempool.space/tx/{tx}', test: 'https://mempool.space/testnet4/tx/{tx}' },
  uriScheme: 'bitcoin',
  addressPrefix: { live: { kind: 'bech32', hrp: 'bc' }, test: { kind: 'bech32', hrp: 'tb' } },
  siblings: [],
  outputs: {
    genesisHash: {
      live: '000000000019d6689c085ae165831e934ff763ae46a2a6c172b3f1b60a8ce26f',
      test: '00000000da84f2bafbbc53dee25a72ae507ff4914b867c565be350b0da8bf043',
    },
    pubKeyHashVersion: { live: 0x00, test: 0x6f },
    scriptHashVersion: { live: 0x05, test: 0xc4 },
    coinbaseMaturity: 100,
    auxPow: false,
    mweb: false,
  },
}
