import type { ServiceContext } from '#services/context.ts'
import { createAddressReader } from '#shared/chains/addresses/payee-address.ts'
import { createCatalog } from '#shared/chains/catalog.ts'
import type { Config } from '#shared/config/schema.ts'
import { createExceptionRepository } from '#shared/db/exceptions/exception-repository.ts'
import { createInvoiceRepository } from '#shared/db/invoices/invoice-repository.ts'
import { createInvoiceVersions } from '#shared/db/invoices/invoice-versions.ts'
import { createPaymentLinkRepository } from '#shared/db/payment-links/payment-link-repository.ts'
import { createPaymentRepository } from '#shared/db/payments/payment-repository.ts'
import { createRateRepository } from '#shared/db/rates/rate-repository.ts'
import { createRefundRepository } from '#shared/db/refunds/refund-repository.ts'
import { createCursorRepository } from '#shared/db/scanning/cursor-repository.ts'
import { createWalletRepository } from '#shared/db/wallets/wallet-repository.ts'
import { createWorkspaceRepository } from '#shared/db/workspaces/workspace-repository.ts'
import type { InvoiceVersions } from '#shared/ports/live-invoices.ts'
import type { Kicker } from '#shared/ports/runtime.ts'
import type { CursorRepository } from '#shared/ports/scanning.ts'
import { createTokenBuckets, type TokenBuckets } from '#shared/queues/token-bucket.ts'
import type { AnswerPaidHashDeps } from '#shared/usecases/diagnostics/answer-paid-hash.ts'
import type { ChooseAssetDeps } from '#shared/usecases/invoices/choose-asset.ts'
import { createInvoiceNumbers } from '#shared/usecases/invoices/invoice-numbers.ts'
import type { ViewInvoiceDeps } from '#shared/usecases/invoices/view-invoice.ts'
import { createLinkQuota } from '#shared/usecases/payment-links/link-quota.ts'
import type { PayLinkDeps } from '#shared/usecases/payment-links/pay-link.ts'
import type { ViewPaymentLinkDeps } from '#shared/usecases/payment-links/view-payment-link.ts'
import type { ListAssetOptionsDeps } from '#shared/usecases/quotes/list-asset-options.ts'
import { createLockAvailability } from '#shared/usecases/quotes/lock-availability.ts'
import { createLockOffers } from '#shared/usecases/quotes/lock-offers.ts'
import { createLockPreparer } from '#shared/usecases/quotes/prepare-lock.ts'
import { createVisitorBudget } from '#shared/usecases/quotes/visitor-budget.ts'
import { createRateReader } from '#shared/usecases/rates/read-rate.ts'
import type { RefundRequestDeps } from '#shared/usecases/refunds/submit-refund-address.ts'
import { createNodeClients, type NodeClients } from './node-clients.ts'

/** Everything the payers' side works with; `main.ts` wires the real parts and tests may replace single ones. */
export interface CheckoutDeps
  extends ViewInvoiceDeps,
    ListAssetOptionsDeps,
    ViewPaymentLinkDeps,
    ChooseAssetDeps,
    PayLinkDeps,
    RefundRequestDeps,
    AnswerPaidHashDeps {
  readonly config: Pick<Config, 'pagesDir' | 'trustedProxies'>
  readonly versions: InvoiceVersions
  readonly buckets: TokenBuckets
  readonly nodes: NodeClients
  readonly invoices: ViewInvoiceDeps['invoices'] &
    ChooseAssetDeps['invoices'] &
    PayLinkDeps['invoices'] &
    AnswerPaidHashDeps['invoices']
  readonly payments: ViewInvoiceDeps['payments'] & ChooseAssetDeps['payments'] & AnswerPaidHashDeps['payments']
  readonly cursors: Pick<CursorRepository, 'find' | 'list'>
  readonly wallets: ChooseAssetDeps['wallets'] & AnswerPaidHashDeps['wallets']
  readonly workspaces: ViewInvoiceDeps['workspaces']
  readonly paymentLinks: PayLinkDeps['paymentLinks']
  readonly catalog: ReturnType<typeof createCatalog>
  readonly rates: ReturnType<typeof createRateReader>
}

/** Wires the real parts on open connections. Opens nothing of its own; node clients connect when they are first asked. */
export function buildCheckoutDeps(context: ServiceContext, kicker: Kicker): CheckoutDeps {
  const { config, db, redis, clock, random, logger, metrics } = context
  const ambient = { clock, random, logger, metrics }
  const catalog = createCatalog(config.networks)
  const wallets = createWalletRepository(db)
  const cursors = createCursorRepository(db)
  const invoices = createInvoiceRepository(db)
  const rates = createRateReader({ rates: createRateRepository(db), clock, catalog })
  const addresses = createLockOffers({ ...ambient, wallets, catalog, invoices })
  const availability = createLockAvailability({ wallets, cursors, catalog, clock, rates, addresses })
  const exceptions = createExceptionRepository(db)
  const budget = createVisitorBudget({ ...ambient, wallets, invoices, exceptions })
  const nodes = createNodeClients(config.networks, metrics)
  return {
    ...ambient,
    config,
    kicker,
    catalog,
    wallets,
    cursors,
    invoices,
    rates,
    addresses,
    availability,
    budget,
    nodes,
    clientOf: nodes.clientOf,
    payments: createPaymentRepository(db, random),
    refunds: createRefundRepository(db),
    payees: createAddressReader(),
    workspaces: createWorkspaceRepository(db),
    paymentLinks: createPaymentLinkRepository(db),
    versions: createInvoiceVersions(db),
    locks: createLockPreparer({ catalog, rates, availability, addresses, budget }),
    linkQuota: createLinkQuota({ invoices, exceptions, clock }),
    numbers: createInvoiceNumbers({ invoices, clock }),
    buckets: createTokenBuckets({ redis, metrics }),
  }
}
