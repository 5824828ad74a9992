import type { Config } from '#shared/config/schema.ts'
import { createStoreClock } from '#shared/db/connection/clock.ts'
import { connectDatabase } from '#shared/db/connection/connect.ts'
import { migrate } from '#shared/db/schema/migrate.ts'
import { createLogger } from '#shared/runtime/observability/logger.ts'
import { createMetrics } from '#shared/runtime/observability/metrics.ts'
import { createRandom } from '#shared/runtime/secrets/random.ts'
import { keepSeed, type Seed } from './seed.ts'

/** Creates missing parts of the stores: collections, indexes and the seeded workspace. */
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
