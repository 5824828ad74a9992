import { createAddressBook } from '#shared/chains/addresses/address-book.ts'
import { createCatalog } from '#shared/chains/catalog.ts'
import { createInvitationRepository } from '#shared/db/accounts/invitation-repository.ts'
import { createMembershipRepository } from '#shared/db/accounts/membership-repository.ts'
import { createUserRepository } from '#shared/db/accounts/user-repository.ts'
import { createAuditRepository } from '#shared/db/audit/audit-repository.ts'
import { createStoreClock } from '#shared/db/connection/clock.ts'
import { connectDatabase } from '#shared/db/connection/connect.ts'
import { createDeliveryLookups } from '#shared/db/deliveries/delivery-lookups.ts'
import { createDeliveryRepository } from '#shared/db/deliveries/delivery-repository.ts'
import { createEndpointDeeds } from '#shared/db/deliveries/endpoint-operations.ts'
import { createRecoveryRepository } from '#shared/db/deliveries/recovery-repository.ts'
import { createEndpointRepository } from '#shared/db/endpoints/endpoint-repository.ts'
import { createEventRepository } from '#shared/db/events/event-repository.ts'
import { createExceptionRepository } from '#shared/db/exceptions/exception-repository.ts'
import { createInvoiceRepository } from '#shared/db/invoices/invoice-repository.ts'
import { createMailQueue } from '#shared/db/mails/mail-queue.ts'
import { createMailRepository } from '#shared/db/mails/mail-repository.ts'
import { createPaymentRepository } from '#shared/db/payments/payment-repository.ts'
import { createRateRepository } from '#shared/db/rates/rate-repository.ts'
import { createChainCommandRepository } from '#shared/db/scanning/chain-command-repository.ts'
import { createCursorRepository } from '#shared/db/scanning/cursor-repository.ts'
import { createOwnershipRepository } from '#shared/db/wallets/ownership-repository.ts'
import { createWalletDeeds } from '#shared/db/wallets/wallet-operations.ts'
import { createWalletRepository } from '#shared/db/wallets/wallet-repository.ts'
import { createApiKeyRepository } from '#shared/db/workspaces/api-key-repository.ts'
import { createTenancyDeeds } from '#shared/db/workspaces/workspace-operations.ts'
import { createWorkspaceRepository } from '#shared/db/workspaces/workspace-repository.ts'
import { connectRedis } from '#shared/queues/connection.ts'
import { createEpochStore } from '#shared/queues/epoch-store.ts'
import { createLogger } from '#shared/runtime/observability/logger.ts'
import { createMetrics } from '#shared/runtime/observability/metrics.ts'
import { createKeyHasher } from '#shared/runtime/secrets/key-hasher.ts'
import { createPasswordHasher } from '#shared/runtime/secrets/password-hasher.ts'
import { createRandom } from '#shared/runtime/secrets/random.ts'
import { createSecretBox } from '#shared/runtime/secrets/secret-box.ts'
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
    invitations: createInvitationRepository(db),
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
