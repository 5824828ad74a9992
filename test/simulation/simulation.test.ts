import { availableParallelism } from 'node:os'
import { beforeAll, describe, expect, it } from 'vitest'
import { bundleSimulation, planted } from './bundle.ts'
import { keptSeeds } from './kept-seeds.ts'
import { MUTANTS } from './mutants.ts'
import type { SeedResult } from './run-seed.ts'
import { runSeeds } from './seed-pool.ts'

const TIMEOUT_MS = 600_000
/** A few, so that this file alone says something; `npm test` runs 200 beside it. */
const NUMBERED = Array.from({ length: 8 }, (_, index) => `unit-${index}`)

/** Results by seed; each seed runs as often as it is named. */
async function resultsOf(bundle: string, seeds: readonly string[]): Promise<readonly SeedResult[]> {
  const results: SeedResult[] = []
  await runSeeds(
    bundle,
    seeds.map((seed) => ({ seed })),
    availableParallelism(),
    (result) => {
      results.push(result)
      return true
    },
  )
  return results
}

describe('the deterministic simulation', () => {
  let bundle = ''
  beforeAll(async () => {
    bundle = await bundleSimulation()
  })

  // Guards money: whatever dies, lies or comes twice, no guarantee breaks and all work ends.
  it(
    'finds every guarantee kept in every kept seed and some others',
    async () => {
      const results = await resultsOf(bundle, [...keptSeeds().map(({ seed }) => seed), ...NUMBERED])
      const broken = results.filter(({ violation }) => violation !== null)
      expect(broken.map(({ seed, violation }) => `${seed}: ${violation?.message}`)).toEqual([])
      expect(results.some(({ faults }) => Object.keys(faults).length > 5)).toBe(true)
    },
    TIMEOUT_MS,
  )

  // A failure that cannot be played again is worth nothing.
  it(
    'plays a seed again to the same trace',
    async () => {
      for (const seed of ['unit-1', 'unit-2', 'unit-3']) {
        const [first, second] = await resultsOf(bundle, [seed, seed])
        expect(second?.hash).toBe(first?.hash)
        expect(first?.steps).toBeGreaterThan(500)
      }
    },
    TIMEOUT_MS,
  )

  it('knows at least 40 bugs to plant, each still in its place and under a name of its own', () => {
    for (const mutant of MUTANTS) expect(planted(mutant)).toContain(mutant.replace)
    expect(new Set(MUTANTS.map(({ name }) => name)).size).toBe(MUTANTS.length)
    expect(MUTANTS.length).toBeGreaterThanOrEqual(40)
  })

  // Shows that the guarantees can fail: a simulation that finds nothing must not pass for one that looked.
  it(
    'notices a bug that is planted',
    async () => {
      const mutant = MUTANTS.find(({ name }) => name === 'state-without-outbox')
      const [result] = await resultsOf(await bundleSimulation(mutant ?? null), ['unit-1'])
      expect(result?.violation?.invariant).toBe('S9')
    },
    TIMEOUT_MS,
  )

  it.each([
    ['unreadable-block-passed', '24'],
    ['balance-and-trace-both-count', '24'],
    ['loading-mempool-believed', '16'],
    ['deadline-by-block-alone', '58'],
    ['call-move-keyed-by-record', '17'],
    ['patience-passes-deadlines', '11'],
  ])(
    'notices %s in seed %s, and nothing there without it',
    async (name, seed) => {
      const mutant = MUTANTS.find((one) => one.name === name)
      expect(mutant).toBeDefined()
      const [wrong] = await resultsOf(await bundleSimulation(mutant ?? null), [seed])
      const [right] = await resultsOf(bundle, [seed])
      expect(wrong?.violation).not.toBeNull()
      expect(right?.violation).toBeNull()
    },
    TIMEOUT_MS,
  )
})
