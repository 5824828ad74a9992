import { BLOCK_MUTANTS } from './mutants/blocks.ts'
import { CREDIT_MUTANTS } from './mutants/credits.ts'
import { DELIVERY_MUTANTS } from './mutants/deliveries.ts'
import { EDGE_MUTANTS } from './mutants/edge.ts'
import { MEMPOOL_MUTANTS } from './mutants/mempools.ts'
import type { Mutant } from './mutants/mutant.ts'
import { NODE_MUTANTS } from './mutants/nodes.ts'
import { STATE_MUTANTS } from './mutants/state.ts'
import { THRIFTY_MUTANTS } from './mutants/thrifty.ts'

/** Every planted bug. */
export const MUTANTS: readonly Mutant[] = [
  ...STATE_MUTANTS,
  ...CREDIT_MUTANTS,
  ...BLOCK_MUTANTS,
  ...THRIFTY_MUTANTS,
  ...MEMPOOL_MUTANTS,
  ...NODE_MUTANTS,
  ...DELIVERY_MUTANTS,
  ...EDGE_MUTANTS,
]
