import type { Mutant } from './mutant.ts'

const FILE = 'shared/usecases/scanning/scan-mempool.ts'
const WHOLE = 'const isWhole = !isLoading && view.partial !== true && unproven === null'

/** What a node's mempool proves, and what it does not. */
export const MEMPOOL_MUTANTS: readonly Mutant[] = [
  {
    name: 'no-peers-passes-deadlines',
    file: FILE,
    find: WHOLE,
    replace: 'const isWhole = !isLoading && view.partial !== true',
    what: 'Deadlines pass by the mempool of a node without peers.',
  },
  {
    name: 'partial-passes-deadlines',
    file: FILE,
    find: WHOLE,
    replace: 'const isWhole = !isLoading && unproven === null',
    what: 'Deadlines pass by a mempool of which not all transactions were read.',
  },
  {
    name: 'loading-passes-deadlines',
    file: FILE,
    find: WHOLE,
    replace: 'const isWhole = view.partial !== true && unproven === null',
    what: 'Deadlines pass by the mempool of a node that still loads it.',
  },
]
