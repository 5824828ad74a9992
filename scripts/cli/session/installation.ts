import { createCatalog } from '#shared/chains/catalog.ts'
import { createNodeCheck } from '#shared/chains/check-nodes.ts'
import { createNodePrices } from '#shared/chains/node-prices.ts'
import type { Database } from '#shared/db/connection/connect.ts'
import { requireWholeRestore, verifyIndexes } from '#shared/db/schema/migrate.ts'
import { NEWEST_SCHEMA } from '#shared/db/schema/migrations/list.ts'
import { verifySchemaVersion } from '#shared/db/schema/schema-version.ts'
import { createEpochStore, createWaitingEpochStore } from '#shared/queues/epoch-store.ts'
import { foreignOwner, foreignOwnerText } from '#shared/queues/redis-owner.ts'
import { createMetrics } from '#shared/runtime/observability/metrics.ts'
import { createPasswordHasher } from '#shared/runtime/secrets/password-hasher.ts'
import { createKeyHasher } from '#shared/runtime/secrets/secret-box.ts'
import { createAuditMarks } from '#shared/usecases/marks/audit-marks.ts'
import { createMarks } from '#shared/usecases/marks/marks.ts'
import { createChainPaces } from '#shared/usecases/networks/chain-paces.ts'
import { createUsageCounter } from '#shared/usecases/networks/usage-counter.ts'
import { findConfig } from './find-config.ts'
import { openStore } from './open-store.ts'

/** The stores and tools of an installation, wired like its services. */
export type Installation = Awaited<ReturnType<typeof openInstallation>>

const REDIS_WAIT_MS = 2_000

async function openInstallation() {
  const config = findConfig('cli')
  // Most commands work without Redis; the others report that they need it.
  const store = await openStore(config, { name: 'cli', redisWaitMs: REDIS_WAIT_MS })
  const { clock, logger, redis } = store
  const nodePrices = createNodePrices(config.networks)
  const paces = createChainPaces(store)
  await paces.refresh()
  const registry = createMetrics()
  const usage = createUsageCounter(registry, clock, nodePrices)
  const metrics = { ...registry, ...usage.metrics }
  return {
    ...store,
    ...{ config, metrics, paces, nodePrices },
    catalog: createCatalog(config.networks, paces),
    nodes: createNodeCheck(config.networks, metrics),
    hasher: createKeyHasher(config.secrets.keyPepper),
    auditMarks: createAuditMarks(store),
    epochs: redis === null ? createWaitingEpochStore() : createEpochStore(redis),
    marks: createMarks(store),
    rates: store.rateSnapshots,
    lookups: store.deliveryLookups,
    passwords: createPasswordHasher(),
    close: async () => {
      await usage.flush(store.nodeUsage, logger)
      await store.close()
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
