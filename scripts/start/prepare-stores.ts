import type { Config } from '#shared/config/schema.ts'
import { createStoreClock } from '#shared/db/clock.ts'
import { connectDatabase } from '#shared/db/connect.ts'
import { migrate } from '#shared/db/migrate.ts'
import { createLogger } from '#shared/runtime/logger.ts'
import { createMetrics } from '#shared/runtime/metrics.ts'
import { createRandom } from '#shared/runtime/random.ts'
import { keepSeed, type Seed } from './seed.ts'

/** Creates what the stores lack: collections, indexes and the seeded workspace. */
export async function prepareStores(dataDir: string, config: Config): Promise<Seed> {
  const logger = createLogger({ name: 'start', level: 'silent' })
  const db = await connectDatabase({ url: config.stores.mongoUrl, name: config.stores.mongoDatabase, logger })
  try {
    await migrate(db)
    const clock = await createStoreClock(db)
    clock.stop()
    const metrics = createMetrics({ defaults: false })
    return await keepSeed(dataDir, db, config, { clock, random: createRandom(clock.now), logger, metrics })
  } finally {
    await db.close()
  }
}
