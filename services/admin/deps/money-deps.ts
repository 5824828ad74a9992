import type { ServiceContext } from '#services/context.ts'
import { createCatalog } from '#shared/chains/catalog.ts'
import { createChainClient } from '#shared/chains/create-chain-client.ts'
import { createAddressReader, guessAddress } from '#shared/chains/payee-address.ts'
import { CHAINS } from '#shared/chains/registry.ts'
import { createInvoiceLookups } from '#shared/db/admin-invoice-lookups.ts'
import { createOperatorPaymentLookups } from '#shared/db/admin-payment-lookups.ts'
import { createAuditRepository } from '#shared/db/audit-repository.ts'
import { createCursorRepository } from '#shared/db/cursor-repository.ts'
import { createCustomerEraser } from '#shared/db/customer-eraser.ts'
import { createDeliveryRepository } from '#shared/db/delivery-repository.ts'
import { createEndpointRepository } from '#shared/db/endpoint-repository.ts'
import { createEventRepository } from '#shared/db/event-repository.ts'
import { createExceptionDesk } from '#shared/db/exception-desk.ts'
import { createExceptionRepository } from '#shared/db/exception-repository.ts'
import { createIdempotencyRepository } from '#shared/db/idempotency-repository.ts'
import { createInvoiceRepository } from '#shared/db/invoice-repository.ts'
import { createPaymentLinkRepository } from '#shared/db/payment-link-repository.ts'
import { createPaymentRepository } from '#shared/db/payment-repository.ts'
import { createProductRepository } from '#shared/db/product-repository.ts'
import { createRateRepository } from '#shared/db/rate-repository.ts'
import { createRefundRepository } from '#shared/db/refund-repository.ts'
import { createWalletRepository } from '#shared/db/wallet-repository.ts'
import { createWorkspaceRepository } from '#shared/db/workspace-repository.ts'
import type { Mode, NetworkId } from '#shared/domain/enumerations.ts'
import { after } from '#shared/runtime/after.ts'
import { createSecretBox } from '#shared/runtime/secret-box.ts'
import { createInvoiceNumbers } from '#shared/usecases/invoice-numbers.ts'
import { createListCursor } from '#shared/usecases/list-cursor.ts'
import { createLockAvailability } from '#shared/usecases/lock-availability.ts'
import { createLockOffers } from '#shared/usecases/lock-offers.ts'
import type { Kicker } from '#shared/usecases/ports/runtime.ts'
import { createLockPreparer } from '#shared/usecases/prepare-lock.ts'
import { createRateReader } from '#shared/usecases/read-rate.ts'
import { createRefundLinks } from '#shared/usecases/refund-link.ts'

/** What the routers of invoices, payments, links, products, exceptions and questions work with. */
export interface MoneyDeps {
  readonly money: ReturnType<typeof buildParts>
}

/** Wires the real parts on open connections. */
export function buildMoneyDeps(context: ServiceContext, kicker: Kicker): MoneyDeps {
  return { money: buildParts(context, kicker) }
}

function buildParts(context: ServiceContext, kicker: Kicker) {
  const { config, db, clock, random, logger, metrics } = context
  const ambient = { clock, random, logger, metrics, after }
  const catalog = createCatalog(config.networks)
  const wallets = createWalletRepository(db)
  const cursors = createCursorRepository(db)
  const invoices = createInvoiceRepository(db)
  const rates = createRateReader({ rates: createRateRepository(db), clock, catalog })
  const addresses = createLockOffers({ ...ambient, wallets, catalog, invoices })
  const availability = createLockAvailability({ wallets, cursors, catalog, clock, rates, addresses })
  return {
    ...ambient,
    kicker,
    catalog,
    wallets,
    cursors,
    invoices,
    rates,
    availability,
    audits: createAuditRepository(db),
    deliveries: createDeliveryRepository(db),
    desk: createExceptionDesk(db),
    endpoints: createEndpointRepository(db),
    eraser: createCustomerEraser(db),
    events: createEventRepository(db),
    exceptions: createExceptionRepository(db),
    idempotency: createIdempotencyRepository(db),
    lookups: createInvoiceLookups(db),
    paymentLookups: createOperatorPaymentLookups(db),
    paymentLinks: createPaymentLinkRepository(db),
    payments: createPaymentRepository(db, random),
    products: createProductRepository(db),
    refunds: createRefundRepository(db),
    workspaces: createWorkspaceRepository(db),
    locks: createLockPreparer({ catalog, rates, availability, addresses }),
    numbers: createInvoiceNumbers({ invoices, clock }),
    listCursor: createListCursor(config.secrets.keyPepper),
    payees: createAddressReader(),
    refundLinks: createRefundLinks(config.secrets.keyPepper),
    secretBox: createSecretBox(config.secrets.masterKey),
    urls: { checkoutBaseUrl: config.checkout.baseUrl },
    guessAddress,
    networkName: (network: NetworkId): string => CHAINS[network].name,
    /** Null when the network has no node in that mode; whoever opens it closes it. */
    openClient: (mode: Mode, network: NetworkId) => createChainClient(config.networks, mode, network, metrics),
  }
}
