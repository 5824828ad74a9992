import type { ServiceContext } from '#services/context.ts'
import { createAddressReader, guessAddress } from '#shared/chains/addresses/payee-address.ts'
import { createCatalog } from '#shared/chains/catalog.ts'
import { createChainClient } from '#shared/chains/create-chain-client.ts'
import { CHAINS } from '#shared/chains/definitions/registry.ts'
import { createAuditRepository } from '#shared/db/audit/audit-repository.ts'
import { createDeliveryRepository } from '#shared/db/deliveries/delivery-repository.ts'
import { createEndpointRepository } from '#shared/db/endpoints/endpoint-repository.ts'
import { createEventRepository } from '#shared/db/events/event-repository.ts'
import { createExceptionDesk } from '#shared/db/exceptions/exception-decisions.ts'
import { createExceptionRepository } from '#shared/db/exceptions/exception-repository.ts'
import { createInvoiceLookups } from '#shared/db/invoices/admin-invoice-lookups.ts'
import { createInvoiceRepository } from '#shared/db/invoices/invoice-repository.ts'
import { createCustomerEraser } from '#shared/db/maintenance/customer-erasure.ts'
import { createPaymentLinkRepository } from '#shared/db/payment-links/payment-link-repository.ts'
import { createProductRepository } from '#shared/db/payment-links/product-repository.ts'
import { createOperatorPaymentLookups } from '#shared/db/payments/admin-payment-lookups.ts'
import { createPaymentRepository } from '#shared/db/payments/payment-repository.ts'
import { createRateRepository } from '#shared/db/rates/rate-repository.ts'
import { createRefundRepository } from '#shared/db/refunds/refund-repository.ts'
import { createIdempotencyRepository } from '#shared/db/requests/idempotency-repository.ts'
import { createCursorRepository } from '#shared/db/scanning/cursor-repository.ts'
import { createWalletRepository } from '#shared/db/wallets/wallet-repository.ts'
import { createWorkspaceRepository } from '#shared/db/workspaces/workspace-repository.ts'
import type { Mode, NetworkId } from '#shared/domain/enumerations.ts'
import type { Kicker } from '#shared/ports/runtime.ts'
import { after } from '#shared/runtime/process/after.ts'
import { createSecretBox } from '#shared/runtime/secrets/secret-box.ts'
import { createInvoiceNumbers } from '#shared/usecases/invoices/invoice-numbers.ts'
import { createLockAvailability } from '#shared/usecases/quotes/lock-availability.ts'
import { createLockOffers } from '#shared/usecases/quotes/lock-offers.ts'
import { createLockPreparer } from '#shared/usecases/quotes/prepare-lock.ts'
import { createRateReader } from '#shared/usecases/rates/read-rate.ts'
import { createRefundLinks } from '#shared/usecases/refunds/refund-link.ts'
import { createListCursor } from '#shared/usecases/requests/list-cursor.ts'

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
