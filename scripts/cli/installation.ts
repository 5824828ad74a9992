import { createAddressBook } from '#shared/chains/address-book.ts'
import { createCatalog } from '#shared/chains/catalog.ts'
import { createApiKeyRepository } from '#shared/db/api-key-repository.ts'
import { createAuditRepository } from '#shared/db/audit-repository.ts'
import { createChainCommandRepository } from '#shared/db/chain-command-repository.ts'
import { createStoreClock } from '#shared/db/clock.ts'
import { connectDatabase } from '#shared/db/connect.ts'
import { createCursorRepository } from '#shared/db/cursor-repository.ts'
import { createDeliveryLookups } from '#shared/db/delivery-lookups.ts'
import { createDeliveryRepository } from '#shared/db/delivery-repository.ts'
import { createEndpointDeeds } from '#shared/db/endpoint-deeds.ts'
import { createEndpointRepository } from '#shared/db/endpoint-repository.ts'
import { createEventRepository } from '#shared/db/event-repository.ts'
import { createExceptionRepository } from '#shared/db/exception-repository.ts'
import { createInvoiceRepository } from '#shared/db/invoice-repository.ts'
import { createMailQueue } from '#shared/db/mail-queue.ts'
import { createMailRepository } from '#shared/db/mail-repository.ts'
import { createMembershipRepository } from '#shared/db/membership-repository.ts'
import { createOwnershipRepository } from '#shared/db/ownership-repository.ts'
import { createPaymentRepository } from '#shared/db/payment-repository.ts'
import { createRateRepository } from '#shared/db/rate-repository.ts'
import { createRecoveryRepository } from '#shared/db/recovery-repository.ts'
import { createTenancyDeeds } from '#shared/db/tenancy-deeds.ts'
import { createUserRepository } from '#shared/db/user-repository.ts'
import { createWalletDeeds } from '#shared/db/wallet-deeds.ts'
import { createWalletRepository } from '#shared/db/wallet-repository.ts'
import { createWorkspaceRepository } from '#shared/db/workspace-repository.ts'
import { connectRedis } from '#shared/queues/connection.ts'
import { createEpochStore } from '#shared/queues/epoch-store.ts'
import { createKeyHasher } from '#shared/runtime/key-hasher.ts'
import { createLogger } from '#shared/runtime/logger.ts'
import { createMetrics } from '#shared/runtime/metrics.ts'
import { createPasswordHasher } from '#shared/runtime/password-hasher.ts'
import { createRandom } from '#shared/runtime/random.ts'
import { createSecretBox } from '#shared/runtime/secret-box.ts'
import { findConfig } from './find-config.ts'

/** The stores and tools of an installation, wired as its services wire them. */
export type Installation = Awaited<ReturnType<typeof openInstallation>>

const REDIS_WAIT_MS = 2_000

async function openInstallation() {
  const config = findConfig('cli')
  const logger = createLogger({ name: 'cli', level: config.logLevel === 'debug' ? 'debug' : 'silent' })
  const db = await connectDatabase({ url: config.stores.mongoUrl, name: config.stores.mongoDatabase, logger })
  const redis = connectRedis({ url: config.stores.redisUrl, prefix: config.stores.redisPrefix, logger })
  // Without Redis most commands still work; those that need it say so themselves.
  await redis.waitUntilHealthy(REDIS_WAIT_MS)
  const clock = await createStoreClock(db, logger)
  const random = createRandom(clock.now)
  return {
    config,
    logger,
    metrics: createMetrics(),
    clock,
    random,
    db,
    redis,
    catalog: createCatalog(config.networks),
    addressBook: createAddressBook(),
    secretBox: createSecretBox(config.secrets.masterKey),
    hasher: createKeyHasher(config.secrets.keyPepper),
    epochs: createEpochStore(redis),
    workspaces: createWorkspaceRepository(db),
    apiKeys: createApiKeyRepository(db),
    tenancy: createTenancyDeeds(db),
    walletDeeds: createWalletDeeds(db),
    wallets: createWalletRepository(db),
    ownership: createOwnershipRepository(db),
    invoices: createInvoiceRepository(db),
    cursors: createCursorRepository(db),
    rates: createRateRepository(db),
    deliveries: createDeliveryRepository(db),
    exceptions: createExceptionRepository(db),
    payments: createPaymentRepository(db, random),
    events: createEventRepository(db),
    commands: createChainCommandRepository(db),
    endpoints: createEndpointRepository(db),
    deeds: createEndpointDeeds(db),
    lookups: createDeliveryLookups(db),
    recoveries: createRecoveryRepository(db),
    mails: createMailRepository(db),
    mailQueue: createMailQueue(db),
    audits: createAuditRepository(db),
    users: createUserRepository(db),
    memberships: createMembershipRepository(db),
    passwords: createPasswordHasher(),
    close: async () => {
      clock.stop()
      await redis.close()
      await db.close()
    },
  }
}

/** Runs `work` on an open installation and closes it whatever happens. */
export async function withInstallation(work: (installation: Installation) => Promise<void>): Promise<void> {
  const installation = await openInstallation()
  try {
    await work(installation)
  } finally {
    await installation.close()
  }
}
