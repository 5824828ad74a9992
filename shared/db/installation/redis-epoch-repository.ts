import type { Database } from '#shared/db/connection/connect.ts'
import type { RedisEpochRepository } from '#shared/ports/redis-epoch.ts'
import { INSTALLATION } from './installation-model.ts'

const ID = 'redis-epoch'

/** The copy of the Redis epoch on MongoDB. */
export function createRedisEpochRepository(db: Database): RedisEpochRepository {
  const facts = db.collection(INSTALLATION)
  return {
    read: async () => (await facts.findOne({ _id: ID }))?.value ?? null,
    replace: async (to) => {
      await facts.updateOne({ _id: ID }, { $set: { value: to }, $currentDate: { changedAt: true } }, { upsert: true })
    },
  }
}
