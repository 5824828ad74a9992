import type { Database } from '#shared/db/connection/connect.ts'
import type { RedisEpochRepository } from '#shared/ports/redis-epoch.ts'
import { readFact, writeFact } from './facts.ts'

const ID = 'redis-epoch'

/** The copy of the Redis epoch on MongoDB. */
export function createRedisEpochRepository(db: Database): RedisEpochRepository {
  return { read: () => readFact(db, ID), replace: (to) => writeFact(db, ID, to) }
}
