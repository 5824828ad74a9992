import { afterEach, beforeAll, describe, expect, it } from 'vitest'
import { migrate } from '#shared/db/schema/migrate.ts'
import { MODELS } from '#shared/db/schema/models.ts'
import { sampleOf } from '#test/support/depth.ts'
import { hashesOf } from '#test/support/store-hashes.ts'
import { useStores } from '#test/support/stores.ts'
import { CONTRACT } from './contract.ts'
import { openStage } from './contract-stage.ts'
import { createMemoryStore } from './memory-store.ts'
import { openSimulatedDatabase } from './simulated-database.ts'

// A database that never existed, so that its indexes have the order in which `migrate` makes them.
const stores = useStores({ migrated: false })
beforeAll(async () => {
  await migrate(stores.db)
})

/** The hash of a collection without documents: MD5 of nothing. */
const NOTHING = 'd41d8cd98f00b204e9800998ecf8427e'

afterEach(async () => {
  const hashes = await hashesOf(stores.db)
  const used = MODELS.filter(({ name }) => hashes.get(name) !== NOTHING)
  await Promise.all(used.map((model) => stores.db.collection(model).deleteMany({})))
})

describe('the real store and the simulated one', () => {
  it.each(sampleOf(CONTRACT, 12))('$name', async ({ query, gives }) => {
    const real = openStage(stores.db)
    const simulated = openStage(
      openSimulatedDatabase(createMemoryStore({ now: Date.now }), async (_operation, run) => run()),
    )
    expect(await query(real.on)).toEqual(gives)
    expect(await query(simulated.on)).toEqual(gives)
    expect(simulated.calls).toEqual(real.calls)
    // As text, because the order of fields counts as well.
    const stored = await real.documents()
    expect(await simulated.documents()).toEqual(stored)
    expect(JSON.stringify(await simulated.documents(), null, 1)).toBe(JSON.stringify(stored, null, 1))
  })
})
