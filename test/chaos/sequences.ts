import fc from 'fast-check'
import { FAULTS } from './faulty-node.ts'

/** Receivers of a sequence: three invoices, and an address that nobody asked for. */
export const RECEIVERS = 4

const receiver = fc.integer({ min: 0, max: RECEIVERS - 1 })
const pay = fc.record({
  kind: fc.constant('pay' as const),
  to: fc.array(receiver, { minLength: 1, maxLength: 2 }),
  /** Quarters of what the invoice asks for. */
  quarters: fc.constantFrom(1n, 2n, 4n, 5n),
  /** Where a chain has several: 0 the asset asked for. */
  asset: fc.constantFrom(0, 0, 0, 1, 2),
})
const mine = fc.record({ kind: fc.constant('mine' as const), blocks: fc.integer({ min: 1, max: 3 }) })
const reorg = fc.record({
  kind: fc.constant('reorg' as const),
  depth: fc.integer({ min: 1, max: 5 }),
  /** One bit for each transaction that comes back. */
  keep: fc.nat({ max: 255 }),
})
const replace = fc.record({ kind: fc.constant('replace' as const), pays: fc.constantFrom('same', 'other') })
const settle = fc.record({ kind: fc.constant('settle' as const) })
const restart = fc.record({ kind: fc.constant('restart' as const) })
const kill = fc.record({
  kind: fc.constant('kill' as const),
  blow: fc.constantFrom('before', 'after', 'hold'),
  writes: fc.integer({ min: 1, max: 5 }),
})
const fault = fc.record({
  kind: fc.constant('fault' as const),
  fault: fc.constantFrom(...FAULTS),
  answers: fc.integer({ min: 1, max: 6 }),
})

const any = fc.oneof(
  { arbitrary: pay, weight: 6 },
  { arbitrary: mine, weight: 4 },
  { arbitrary: reorg, weight: 3 },
  { arbitrary: replace, weight: 2 },
  { arbitrary: settle, weight: 4 },
  { arbitrary: fault, weight: 2 },
  { arbitrary: restart, weight: 1 },
  { arbitrary: kill, weight: 2 },
)

/** One thing that happens in a sequence. */
export type Action =
  | { readonly kind: 'pay'; readonly to: number[]; readonly quarters: bigint; readonly asset: number }
  | { readonly kind: 'mine'; readonly blocks: number }
  | { readonly kind: 'reorg'; readonly depth: number; readonly keep: number }
  | { readonly kind: 'replace'; readonly pays: 'same' | 'other' }
  | { readonly kind: 'settle' | 'restart' }
  | { readonly kind: 'kill'; readonly blow: 'before' | 'after' | 'hold'; readonly writes: number }
  | { readonly kind: 'fault'; readonly fault: (typeof FAULTS)[number]; readonly answers: number }

/** What happens on a chain and to its scanner, in any order. */
export const sequence: fc.Arbitrary<Action[]> = fc.array(any as fc.Arbitrary<Action>, { minLength: 4, maxLength: 14 })

/**
 * How many sequences run, and from which seed. fast-check prints the seed of a failure; CHAOS_SEED runs the same
 * sequences again, and CHAOS_RUNS=200 runs 200 of them, shared out between the chains.
 */
export function sequenceSettings(share: number, ordinary: number): fc.Parameters<[Action[]]> {
  const all = process.env['CHAOS_RUNS']
  const seed = process.env['CHAOS_SEED']
  const numRuns = all === undefined ? ordinary : Math.ceil(Number(all) * share)
  // The chain goes on from one sequence to the next, so a failure is not tried again in smaller pieces.
  return { numRuns, endOnFailure: true, ...(seed !== undefined && { seed: Number(seed) }) }
}

/** Long enough for as many sequences as were asked for, on a machine that does other things as well. */
export const SEQUENCES_TIMEOUT_MS = process.env['CHAOS_RUNS'] === undefined ? 1_200_000 : 7_200_000
