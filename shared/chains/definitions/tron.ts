import { NETWORKS } from '#shared/domain/networks.ts'
import { SIBLINGS } from './assets.ts'
import type { ChainDefinition } from './chain.ts'

/**
 * TRON. Nineteen of 27 producers above a block make it solid; a solid block never rolls back. Logs are read with their block,
 * so the range is the number of blocks in one step of a catch-up. The sibling is Circle's USDC, which it no longer issues
 * here and which is not supported. Test: Nile.
 */
export const tron: ChainDefinition = {
  id: 'tron',
  family: 'tron',
  name: NETWORKS.tron.name,
  chainIds: null,
  nativeSymbol: NETWORKS.tron.nativeSymbol,
  checked: {
    on: '2026-11-30',
    source:
      'java-tron 4.8.0 (2025-04-29): header times are multiples of 3 s by consensus, solid under 19 of 27 producers (DposService); 4.8.1 (2026-02-04) changes no pace; of 4.8.2 (2026-07-31) and 4.8.2.2 (2026-09-08) only the version numbers were compared (pull requests 6892, 6955)',
  },
  blockTimeMs: 3_000,
  risk: 'A block that 19 of 27 producers built on is solid and stays; above it a producer that falls behind can lose its blocks.',
  confirmations: { ms: 57_000, blocksMin: 19 },
  confirmationTiers: [{ fromUsd: 0, confirmations: { ms: 57_000, blocksMin: 19 } }],
  confirmsByFinality: true,
  finalizesAfterMs: 57_000,
  reorganisation: { ms: 81_000, blocksMin: 27 },
  scanBatchMax: 20,
  explorerTx: { live: 'https://tronscan.org/#/transaction/{tx}', test: 'https://nile.tronscan.org/#/transaction/{tx}' },
  // The last four bytes of block 0, as wallets state them (TIP-474); a local chain's come with the prepared transfer.
  walletChains: { live: 'tron:0x2b6653dc', test: 'tron:0xcd8690dc', local: 'tron:local' },
  uriScheme: null,
  addressPrefix: null,
  siblings: SIBLINGS.tron,
}
