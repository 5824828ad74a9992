import fc from 'fast-check'
import { describe, it } from 'vitest'
import { EVERY_CASE } from '#test/support/every-case.ts'
import { useStores } from '#test/support/stores.ts'
import { worldHistory } from './world-history.ts'
import { useWorldStage } from './world-stage.ts'

const stores = useStores()

const runs = Number(process.env['WORLD_RUNS'] ?? (EVERY_CASE ? 20 : 4))
const seed = process.env['WORLD_SEED']

describe.each([0.1, 1, 10])('at %s times the pace of the network', (pace) => {
  const stage = useWorldStage(stores, pace)

  // Guarantee: whatever way money comes and goes, each payment that the oracle has is stored once before a deadline passes, and nothing else is.
  it('what is stored of a random history is what the oracle says', { timeout: 7_200_000 }, () =>
    fc.assert(
      fc.asyncProperty(worldHistory, (history) => stage.play(history)),
      { numRuns: runs, endOnFailure: true, ...(seed !== undefined && { seed: Number(seed) }) },
    ),
  )
})
