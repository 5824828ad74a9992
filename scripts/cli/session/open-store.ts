import { createAddressBook } from '#shared/chains/addresses/address-book.ts'
import type { Config } from '#shared/config/schema.ts'
import { createStoreClock } from '#shared/db/connection/clock.ts'
import { connectDatabase } from '#shared/db/connection/connect.ts'
import { createRepositories } from '#shared/db/create-repositories.ts'
import { connectRedis } from '#shared/queues/connection.ts'
import { createRedisMarkPlace } from '#shared/queues/redis-mark-place.ts'
import { createLogger, type LoggerOptions } from '#shared/runtime/observability/logger.ts'
import { markPlacesOf } from '#shared/runtime/process/folder-mark-place.ts'
import { createAuditKeys, createMarkKeys } from '#shared/runtime/secrets/audit-keys.ts'
import { createRandom } from '#shared/runtime/secrets/random.ts'
import { createSecretBox } from '#shared/runtime/secrets/secret-box.ts'

/** Opens what every command has of an installation: its stores, its master keys and the marks of what was issued. Waits so long for Redis, and goes on without it. */
export async function openStore(
  { stores, secrets, logLevel }: Config,
  { redisWaitMs, ...log }: Pick<LoggerOptions, 'name' | 'destination'> & { readonly redisWaitMs: number },
) {
  const logger = createLogger({ ...log, level: logLevel === 'debug' ? 'debug' : 'silent' })
  const db = await connectDatabase({ url: stores.mongoUrl, name: stores.mongoDatabase, logger })
  const { redisUrl, redisPrefix } = stores
  const redis = redisUrl === null ? null : connectRedis({ url: redisUrl, prefix: redisPrefix, logger })
  await redis?.waitUntilHealthy(redisWaitMs)
  const clock = await createStoreClock(db, logger)
  const random = createRandom(clock.now)
  return {
    ...{ logger, clock, random, db },
    /** Null beside `paymesh serve`, which has none. */
    redis,
    ...createRepositories(db, { random, logger }),
    addressBook: createAddressBook(),
    secretBox: createSecretBox(secrets.masterKey),
    markKeys: createMarkKeys(secrets.masterKey),
    auditKeys: createAuditKeys(secrets.masterKey),
    markPlaces: markPlacesOf(redis === null ? null : createRedisMarkPlace(redis), stores.marksDir),
    close: async () => {
      clock.stop()
      await redis?.close()
      await db.close()
    },
  }
}
