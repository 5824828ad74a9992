import type { Mutant } from './mutant.ts'

/** Blocks that no node can read whole. */
export const BLOCK_MUTANTS: readonly Mutant[] = [
  {
    name: 'increase-passed',
    file: 'shared/usecases/scanning/scan-tick.ts',
    find: '{ ...input, blocks: checked.blocks }',
    replace: '{ ...input, blocks }',
    what: 'A block in which only a balance grew is passed without a payment.',
    seed: '15',
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
