import type { Mutant } from './mutant.ts'

/** Blocks that no node can read whole. */
export const BLOCK_MUTANTS: readonly Mutant[] = [
  {
    name: 'unreadable-block-passed',
    file: 'shared/usecases/scanning/scan-tick.ts',
    find: 'blocks: settled.blocks, unconfirmed, mempoolAt',
    replace: 'blocks: checked.blocks, unconfirmed, mempoolAt',
    what: 'A block whose transactions no node can show is passed although balances moved in it.',
    seed: '15',
  },
  {
    name: 'balance-and-trace-both-count',
    file: 'shared/usecases/payments/drop-balance-duplicates.ts',
    find: 'inside === true && standing.some(',
    replace: 'inside === undefined && standing.some(',
    what: 'Money that a balance told of counts again when another node shows its transaction.',
    seed: '29',
  },
  {
    name: 'patience-passes-deadlines',
    file: 'shared/usecases/invoices/deadlines.ts',
    find: 'return Math.min(deadlinesPassUntil(cursor, catalog.blockTimeMs(network, mode)), now)',
    replace:
      'return now - Math.max(cursor.advancedAt ?? 0, cursor.headSeenAt) > 900_000 ? now : Math.min(deadlinesPassUntil(cursor, catalog.blockTimeMs(network, mode)), now)',
    what: 'Deadlines pass on a network that was not read for 15 minutes.',
    seed: '11',
  },
  {
    name: 'moved-before-the-pack-is-durable',
    file: 'shared/usecases/watches/pack-watches.ts',
    find: '  await storeHashes(deps, { mode, family }, matchKeys)\n',
    replace:
      '  await deps.wallets.markPacked(mode, family, matchKeys)\n  await storeHashes(deps, { mode, family }, matchKeys)\n',
    what: 'An address leaves the memory of scanners before its pack is stored.',
    seed: '75',
  },
]
