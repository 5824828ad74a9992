import type { ServiceContext } from '#services/context.ts'
import { createCatalog } from '#shared/chains/catalog.ts'
import { createMembershipRepository } from '#shared/db/accounts/membership-repository.ts'
import { createUserRepository } from '#shared/db/accounts/user-repository.ts'
import { createBatchLookup } from '#shared/db/connection/batch-lookup.ts'
import { createDeliveryRepository } from '#shared/db/deliveries/delivery-repository.ts'
import { createEndpointDeeds } from '#shared/db/deliveries/endpoint-operations.ts'
import { createEndpointRepository } from '#shared/db/endpoints/endpoint-repository.ts'
import { createEventRepository } from '#shared/db/events/event-repository.ts'
import { createGroupedFind } from '#shared/db/invoices/group-find.ts'
import { createGroupedInsert } from '#shared/db/invoices/group-insert.ts'
import { createInvoiceRepository } from '#shared/db/invoices/invoice-repository.ts'
import { createPaymentLinkRepository } from '#shared/db/payment-links/payment-link-repository.ts'
import { createProductRepository } from '#shared/db/payment-links/product-repository.ts'
import { createPaymentRepository } from '#shared/db/payments/payment-repository.ts'
import { createRateRepository } from '#shared/db/rates/rate-repository.ts'
import { createIdempotencyRepository } from '#shared/db/requests/idempotency-repository.ts'
import { createCursorRepository } from '#shared/db/scanning/cursor-repository.ts'
import { createWalletRepository } from '#shared/db/wallets/wallet-repository.ts'
import { createApiKeyRepository } from '#shared/db/workspaces/api-key-repository.ts'
import { createWorkspaceRepository } from '#shared/db/workspaces/workspace-repository.ts'
import type { Ambient, Kicker } from '#shared/ports/runtime.ts'
import { createRateLimiter } from '#shared/queues/rate-limiter.ts'
import { createEgressGuard } from '#shared/runtime/http/egress-guard.ts'
import { after } from '#shared/runtime/process/after.ts'
import { createKeyHasher } from '#shared/runtime/secrets/key-hasher.ts'
import { createSecretBox } from '#shared/runtime/secrets/secret-box.ts'
import { createInvoiceNumbers } from '#shared/usecases/invoices/invoice-numbers.ts'
import { createLockAvailability } from '#shared/usecases/quotes/lock-availability.ts'
import { createLockOffers } from '#shared/usecases/quotes/lock-offers.ts'
import { createLockPreparer } from '#shared/usecases/quotes/prepare-lock.ts'
import { createRateReader } from '#shared/usecases/rates/read-rate.ts'
import { createListCursor } from '#shared/usecases/requests/list-cursor.ts'
import { createKeyRing } from '#shared/usecases/workspaces/api-key-cache.ts'
import { createKeyUse } from '#shared/usecases/workspaces/api-key-last-used.ts'
import { ownersOfWorkspace } from '#shared/usecases/workspaces/owners-of-workspace.ts'
import type { ApiDeps } from './api-deps.ts'

/** Wires the real parts of the edge on open connections. Opens nothing of its own and holds only caches. */
export function buildDeps(context: ServiceContext, kicker: Kicker): ApiDeps {
  const { config, db, redis, clock, random, logger, metrics, tracer } = context
  const ambient: Ambient = { clock, random, logger, metrics, tracer }
  const catalog = createCatalog(config.networks)
  const wallets = createWalletRepository(db)
  const cursors = createCursorRepository(db)
  const workspaces = createWorkspaceRepository(db)
  const repository = createInvoiceRepository(db)
  const invoices = {
    ...repository,
    insert: createGroupedInsert(db, repository.insert),
    findInWorkspace: createGroupedFind(db),
  }
  const idempotency = createIdempotencyRepository(db)
  const keys = createApiKeyRepository(db)
  const people = { workspaces, memberships: createMembershipRepository(db), users: createUserRepository(db) }
  const rates = createRateReader({ rates: createRateRepository(db), clock, catalog })
  const addresses = createLockOffers({ ...ambient, wallets, catalog, invoices: repository })
  const availability = createLockAvailability({ wallets, cursors, catalog, clock, rates, addresses })
  return {
    ...ambient,
    after,
    kicker,
    catalog,
    cursors,
    workspaces,
    invoices,
    idempotency,
    rates,
    availability,
    payments: createPaymentRepository(db, random),
    paymentLinks: createPaymentLinkRepository(db),
    products: createProductRepository(db),
    events: createEventRepository(db),
    endpoints: createEndpointRepository(db),
    deeds: createEndpointDeeds(db),
    ownersOf: (workspaceId) => ownersOfWorkspace(people, workspaceId),
    deliveries: createDeliveryRepository(db),
    locks: createLockPreparer({ catalog, rates, availability, addresses }),
    numbers: createInvoiceNumbers({ invoices, clock }),
    findRefusal: createBatchLookup({ findMany: idempotency.findMany, nameOfKey: String, nameOfItem: ({ id }) => id }),
    keyRing: createKeyRing({
      keys: {
        findByHash: createBatchLookup({
          findMany: keys.findManyByHash,
          nameOfKey: String,
          nameOfItem: ({ hash }) => hash,
        }),
      },
      workspaces: {
        findById: createBatchLookup({ findMany: workspaces.findMany, nameOfKey: String, nameOfItem: ({ id }) => id }),
      },
      hasher: createKeyHasher(config.secrets.keyPepper),
      clock,
    }),
    keyUse: createKeyUse({ keys, clock, logger, after }),
    limiter: createRateLimiter({ redis, metrics }),
    secretBox: createSecretBox(config.secrets.masterKey),
    listCursor: createListCursor(config.secrets.keyPepper),
    urlGuard: createEgressGuard({ allowLocalhost: config.webhooks.allowLocalhost }),
    checkAnswers: config.env !== 'production',
    trustedProxies: config.trustedProxies,
    publicUrl: config.api.publicUrl,
    pagesDir: config.pagesDir,
    urls: { checkoutBaseUrl: config.checkout.baseUrl },
  }
}
