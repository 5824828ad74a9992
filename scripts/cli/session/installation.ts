import { createAddressBook } from '#shared/chains/addresses/address-book.ts'
import { createCatalog } from '#shared/chains/catalog.ts'
import { createNodeCheck } from '#shared/chains/check-nodes.ts'
import { createNodePrices } from '#shared/chains/node-prices.ts'
import { createStoreClock } from '#shared/db/connection/clock.ts'
import { connectDatabase, type Database } from '#shared/db/connection/connect.ts'
import { createRepositories } from '#shared/db/create-repositories.ts'
import { requireWholeRestore, verifyIndexes } from '#shared/db/schema/migrate.ts'
import { NEWEST_SCHEMA } from '#shared/db/schema/migrations/list.ts'
import { verifySchemaVersion } from '#shared/db/schema/schema-version.ts'
import { connectRedis } from '#shared/queues/connection.ts'
import { createEpochStore, createWaitingEpochStore } from '#shared/queues/epoch-store.ts'
import { createRedisMarkPlace } from '#shared/queues/redis-mark-place.ts'
import { foreignOwner, foreignOwnerText } from '#shared/queues/redis-owner.ts'
import { createLogger } from '#shared/runtime/observability/logger.ts'
import { createMetrics } from '#shared/runtime/observability/metrics.ts'
import { markPlacesOf } from '#shared/runtime/process/folder-mark-place.ts'
import { createAuditKeys, createMarkKeys } from '#shared/runtime/secrets/audit-keys.ts'
import { createPasswordHasher } from '#shared/runtime/secrets/password-hasher.ts'
import { createRandom } from '#shared/runtime/secrets/random.ts'
import { createKeyHasher, createSecretBox } from '#shared/runtime/secrets/secret-box.ts'
import { createAuditMarks } from '#shared/usecases/marks/audit-marks.ts'
import { createMarks } from '#shared/usecases/marks/marks.ts'
import { createChainPaces } from '#shared/usecases/networks/chain-paces.ts'
import { createUsageCounter } from '#shared/usecases/networks/usage-counter.ts'
import { findConfig } from './find-config.ts'

/** The stores and tools of an installation, wired like its services. */
export type Installation = Awaited<ReturnType<typeof openInstallation>>

const REDIS_WAIT_MS = 2_000

async function openInstallation() {
  const config = findConfig('cli')
  const logger = createLogger({ name: 'cli', level: config.logLevel === 'debug' ? 'debug' : 'silent' })
  const db = await connectDatabase({ url: config.stores.mongoUrl, name: config.stores.mongoDatabase, logger })
  const { redisUrl, redisPrefix } = config.stores
  const redis = redisUrl === null ? null : connectRedis({ url: redisUrl, prefix: redisPrefix, logger })
  // Most commands work without Redis; the others report that they need it.
  await redis?.waitUntilHealthy(REDIS_WAIT_MS)
  const clock = await createStoreClock(db, logger)
  const random = createRandom(clock.now)
  const repositories = createRepositories(db, { random, logger })
  const markPlaces = markPlacesOf(redis === null ? null : createRedisMarkPlace(redis), config.stores.marksDir)
  const markKeys = createMarkKeys(config.secrets.masterKey)
  const registry = createMetrics()
  const nodePrices = createNodePrices(config.networks)
  const paces = createChainPaces({ cursors: repositories.cursors, logger })
  await paces.refresh()
  const usage = createUsageCounter(registry, clock, nodePrices)
  const metrics = { ...registry, ...usage.metrics }
  return {
    config,
    logger,
    metrics,
    clock,
    random,
    db,
    /** Null beside `paymesh serve`, which has none. */
    redis,
    paces,
    catalog: createCatalog(config.networks, paces),
    nodePrices,
    nodes: createNodeCheck(config.networks, metrics),
    addressBook: createAddressBook(),
    secretBox: createSecretBox(config.secrets.masterKey),
    hasher: createKeyHasher(config.secrets.keyPepper),
    auditKeys: createAuditKeys(config.secrets.masterKey),
    auditMarks: createAuditMarks({ ...repositories, markPlaces, markKeys }),
    epochs: redis === null ? createWaitingEpochStore() : createEpochStore(redis),
    ...repositories,
    markPlaces,
    markKeys,
    marks: createMarks({ markPlaces, markKeys, installationLife: repositories.installationLife }),
    rates: repositories.rateSnapshots,
    lookups: repositories.deliveryLookups,
    passwords: createPasswordHasher(),
    close: async () => {
      await usage.flush(repositories.nodeUsage, logger)
      clock.stop()
      await redis?.close()
      await db.close()
    },
  }
}

/**
 * Throws the sentence that `paymesh migrate` is missing, that this version is too old or that a restore did not end, instead of writing into a
 * database without indexes.
 */
async function requireMigrated(db: Database): Promise<void> {
  await requireWholeRestore(db)
  try {
    await verifySchemaVersion(db, NEWEST_SCHEMA)
  } catch (error) {
    // Reports a database that was never migrated as such.
    await verifyIndexes(db)
    throw error
  }
}

/** Throws when another installation uses the keys in Redis: what a command publishes there would reach that one. */
async function requireOwnRedis({ redis, installationLife, config }: Installation): Promise<void> {
  if (redis === null) return
  const owner = await foreignOwner(redis, (await installationLife.read()).installation)
  if (owner !== null) throw new Error(foreignOwnerText(config.stores.redisPrefix, owner))
}

/** Runs `work` on an open installation and closes it whatever happens. `isChecked` is false for a command that reports what it finds. */
export async function withInstallation(
  work: (installation: Installation) => Promise<void>,
  { isChecked = true }: { readonly isChecked?: boolean } = {},
): Promise<void> {
  const installation = await openInstallation()
  try {
    if (isChecked) {
      await requireMigrated(installation.db)
      await requireOwnRedis(installation)
    }
    await work(installation)
  } finally {
    await installation.close()
  }
}
