import type { SeedResult } from './run-seed.ts'

/** One seed in so many is played twice. */
const ONE_IN = 100

/** Seeds that a run plays again, in whatever thread is free then: their traces must be the same. */
export interface Replays {
  readonly seeds: readonly string[]
  /** Notes the trace of a seed; true when it is one that was played before. */
  isAgain(result: Pick<SeedResult, 'seed' | 'hash'>): boolean
  /** Seeds that went another way the second time. */
  differing(): readonly string[]
}

/** Chooses every hundredth of the seeds, and the first of few. */
export function createReplays(seeds: readonly string[]): Replays {
  const chosen = seeds.filter((_, index) => index % ONE_IN === 0)
  const hashes = new Map<string, string>()
  const differing: string[] = []
  return {
    seeds: chosen,
    isAgain({ seed, hash }) {
      const first = hashes.get(seed)
      hashes.set(seed, hash)
      if (first !== undefined && first !== hash) differing.push(seed)
      return first !== undefined
    },
    differing: () => differing,
  }
}
