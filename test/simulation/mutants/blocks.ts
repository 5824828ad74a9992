import type { Mutant } from './mutant.ts'

/** Blocks that no node can read whole. */
export const BLOCK_MUTANTS: readonly Mutant[] = [
  {
    name: 'unreadable-block-passed',
    file: 'shared/usecases/scan-tick.ts',
    find: 'blocks: settled.blocks, unconfirmed, mempoolAt',
    replace: 'blocks: checked.blocks, unconfirmed, mempoolAt',
    what: 'A block whose transactions no node can show is passed although balances moved in it.',
    seed: '6',
  },
  {
    name: 'balance-and-trace-both-count',
    file: 'shared/usecases/without-told.ts',
    find: 'inside === true && standing.some(',
    replace: 'inside === undefined && standing.some(',
    what: 'Money that a balance told of counts again when another node shows its transaction.',
    seed: '70',
  },
]
