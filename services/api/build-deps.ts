import type { ServiceContext } from '#services/context.ts'
import { createCatalog } from '#shared/chains/catalog.ts'
import { createApiKeyRepository } from '#shared/db/api-key-repository.ts'
import { createBatchLookup } from '#shared/db/batch-lookup.ts'
import { createCursorRepository } from '#shared/db/cursor-repository.ts'
import { createDeliveryRepository } from '#shared/db/delivery-repository.ts'
import { createEndpointDeeds } from '#shared/db/endpoint-deeds.ts'
import { createEndpointRepository } from '#shared/db/endpoint-repository.ts'
import { createEventRepository } from '#shared/db/event-repository.ts'
import { createGroupedFind } from '#shared/db/group-find.ts'
import { createGroupedInsert } from '#shared/db/group-insert.ts'
import { createIdempotencyRepository } from '#shared/db/idempotency-repository.ts'
import { createInvoiceRepository } from '#shared/db/invoice-repository.ts'
import { createPaymentLinkRepository } from '#shared/db/payment-link-repository.ts'
import { createPaymentRepository } from '#shared/db/payment-repository.ts'
import { createProductRepository } from '#shared/db/product-repository.ts'
import { createRateRepository } from '#shared/db/rate-repository.ts'
import { createWalletRepository } from '#shared/db/wallet-repository.ts'
import { createWorkspaceRepository } from '#shared/db/workspace-repository.ts'
import { createRateLimiter } from '#shared/queues/rate-limiter.ts'
import { after } from '#shared/runtime/after.ts'
import { createEgressGuard } from '#shared/runtime/egress-guard.ts'
import { createKeyHasher } from '#shared/runtime/key-hasher.ts'
import { createSecretBox } from '#shared/runtime/secret-box.ts'
import { createInvoiceNumbers } from '#shared/usecases/invoice-numbers.ts'
import { createKeyRing } from '#shared/usecases/key-ring.ts'
import { createKeyUse } from '#shared/usecases/key-use.ts'
import { createListCursor } from '#shared/usecases/list-cursor.ts'
import { createLockAvailability } from '#shared/usecases/lock-availability.ts'
import { createLockOffers } from '#shared/usecases/lock-offers.ts'
import type { Ambient, Kicker } from '#shared/usecases/ports/runtime.ts'
import { createLockPreparer } from '#shared/usecases/prepare-lock.ts'
import { createRateReader } from '#shared/usecases/read-rate.ts'
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
