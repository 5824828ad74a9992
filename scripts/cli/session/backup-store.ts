import { createAddressBook } from '#shared/chains/addresses/address-book.ts'
import type { Config } from '#shared/config/schema.ts'
import { createStoreClock } from '#shared/db/connection/clock.ts'
import { connectDatabase } from '#shared/db/connection/connect.ts'
import { createRepositories } from '#shared/db/create-repositories.ts'
import { connectRedis } from '#shared/queues/connection.ts'
import { createRedisMarkPlace } from '#shared/queues/redis-mark-place.ts'
import { createLogger } from '#shared/runtime/observability/logger.ts'
import { createMetrics } from '#shared/runtime/observability/metrics.ts'
import { markPlacesOf } from '#shared/runtime/process/folder-mark-place.ts'
import { createAuditKeys, createMarkKeys } from '#shared/runtime/secrets/audit-keys.ts'
import { createRandom } from '#shared/runtime/secrets/random.ts'
import { createSecretBox } from '#shared/runtime/secrets/secret-box.ts'
import { findConfig } from './find-config.ts'

/** What back-ups and restores need of an installation: its database, its master keys and the marks of what was issued, not nodes or the pepper. */
export type BackupStore = Awaited<ReturnType<typeof openBackupStore>>

const REDIS_WAIT_MS = 5_000

let settings: Config | undefined

/** Read once, because reading removes the secrets from the environment: a scheduled command opens the store again and again. */
function readSettings(): Config {
  settings ??= findConfig('backup')
  return settings
}

async function openBackupStore() {
  const { stores, secrets, logLevel } = readSettings()
  // stdout may be the archive.
  const destination = { write: (line: string) => void process.stderr.write(line) }
  const logger = createLogger({ name: 'backup', level: logLevel === 'debug' ? 'debug' : 'silent', destination })
  const db = await connectDatabase({ url: stores.mongoUrl, name: stores.mongoDatabase, logger })
  const clock = await createStoreClock(db, logger)
  const random = createRandom(clock.now)
  const redis =
    stores.redisUrl === null ? null : connectRedis({ url: stores.redisUrl, prefix: stores.redisPrefix, logger })
  await redis?.waitUntilHealthy(REDIS_WAIT_MS)
  return {
    db,
    clock,
    random,
    logger,
    ...createRepositories(db, { random, logger }),
    metrics: createMetrics({ defaults: false }),
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

/** Runs `work` with the store open and closes it whatever happens. */
export async function withBackupStore<T>(work: (store: BackupStore) => Promise<T>): Promise<T> {
  const store = await openBackupStore()
  try {
    return await work(store)
  } finally {
    await store.close()
  }
}
