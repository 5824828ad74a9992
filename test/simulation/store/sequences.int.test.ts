import { beforeAll, describe, expect, it } from 'vitest'
import { migrate } from '#shared/db/schema/migrate.ts'
import { MODELS } from '#shared/db/schema/models.ts'
import { sampleOf } from '#test/support/depth.ts'
import { EVERY_CASE } from '#test/support/every-case.ts'
import { useStores } from '#test/support/stores.ts'
import { createPrng } from '../kernel/prng.ts'
import { openStage } from './contract-stage.ts'
import { createMemoryStore } from './memory-store.ts'
import { AREAS, runSequence } from './sequences.ts'
import { openSimulatedDatabase } from './simulated-database.ts'

// A database that never existed: of two unique indexes that a document offends the store names the older one, and in a shared
// database a test may have dropped an index that `migrate` made again.
const stores = useStores({ migrated: false })
beforeAll(async () => {
  await migrate(stores.db)
})

/** Sequences of each area in one test; all areas and tests together make 52, or 208 with the four of the deep tier. */
const PER_TEST = Number(process.env['STORE_SEQUENCES'] ?? 1)
const TESTS = EVERY_CASE ? 13 : 5
const LENGTH = 30

async function compare(area: keyof typeof AREAS, seed: string): Promise<void> {
  const touched = new Set<string>()
  let last = 0
  // Two commands of the real store never fall into one millisecond, and what they stamp is sorted by it.
  const now = (): number => {
    last = Math.max(last + 1, Date.now())
    return last
  }
  const store = createMemoryStore({ now, onChange: ({ collection }) => touched.add(collection) })
  const simulated = openStage(openSimulatedDatabase(store, async (_operation, run) => run()))
  const real = openStage(stores.db)
  try {
    await runSequence(area, real.on, createPrng(seed), LENGTH)
    await runSequence(area, simulated.on, createPrng(seed), LENGTH)
    expect(simulated.calls, `the answers of seed ${seed}`).toEqual(real.calls)
    expect(real.calls.length).toBeGreaterThanOrEqual(LENGTH - 10)
    const stored = JSON.stringify(await real.documents(), null, 1)
    expect(JSON.stringify(await simulated.documents(), null, 1), `the documents of seed ${seed}`).toBe(stored)
  } finally {
    const models = MODELS.filter(({ name }) => touched.has(name))
    await Promise.all(models.map((model) => stores.db.collection(model).deleteMany({})))
  }
}

// Guarantee: whatever the repositories ask in whatever order, the simulation answers as the replica set does.
describe.each(Object.keys(AREAS) as (keyof typeof AREAS)[])('random questions about %s', (area) => {
  it.each(
    sampleOf(
      Array.from({ length: TESTS }, (_, index) => index),
      5,
    ),
  )('get the same answers from both stores (%i)', async (test) => {
    for (let nth = 0; nth < PER_TEST; nth++) await compare(area, `${area}-${test}-${nth}`)
  })
})
