import type { Database } from '#shared/db/connection/connect.ts'
import type { Runtime } from '#shared/ports/runtime.ts'
import { createInvitationRepository } from './accounts/invitation-repository.ts'
import { createLoginAttempts } from './accounts/login-attempts.ts'
import { createMembershipRepository } from './accounts/membership-repository.ts'
import { createPasswordResets } from './accounts/password-resets.ts'
import { createSessionRepository } from './accounts/session-repository.ts'
import { createUserRepository } from './accounts/user-repository.ts'
import { createAuditChainRepository } from './audit/audit-chain-repository.ts'
import { createAuditRepository } from './audit/audit-repository.ts'
import { createAuditSearch } from './audit/audit-search.ts'
import { createExportRecords } from './audit/export-records.ts'
import { createVerifiedBackups } from './backup/verified-backups.ts'
import { createDeliveryLookups } from './deliveries/delivery-lookups.ts'
import { createDeliveryReads } from './deliveries/delivery-reads.ts'
import { createDeliveryRepository } from './deliveries/delivery-repository.ts'
import { createEndpointOperations, createEndpointRepository } from './deliveries/endpoint-repository.ts'
import { createEventStream } from './deliveries/event-stream.ts'
import { createRecoveryRepository } from './deliveries/recovery-repository.ts'
import { createLimitedEndpoints } from './endpoints/limited-endpoints.ts'
import { createEventRepository } from './events/event-repository.ts'
import { createExceptionDecisions } from './exceptions/exception-decisions.ts'
import { createExceptionRepository } from './exceptions/exception-repository.ts'
import { createFundsReads } from './funds/funds-reads.ts'
import { createGoLiveRepository } from './golive/go-live-repository.ts'
import { createEpisodeRepository } from './installation/episode-repository.ts'
import { createLeaseRepository } from './installation/lease-repository.ts'
import { createInvoiceLookups } from './invoices/admin-invoice-lookups.ts'
import { createAdvanceFailures } from './invoices/advance-failures.ts'
import { createGroupedFind, createGroupedInsert } from './invoices/grouped-calls.ts'
import { createInvoiceCounts } from './invoices/invoice-counts.ts'
import { createInvoiceNotes } from './invoices/invoice-notes.ts'
import { createInvoiceRepository } from './invoices/invoice-repository.ts'
import { createInvoiceVersions } from './invoices/invoice-versions.ts'
import { createMailQueue } from './mails/mail-queue.ts'
import { createMailRepository } from './mails/mail-repository.ts'
import { createCustomerEraser } from './maintenance/customer-erasure.ts'
import { createInstanceReads } from './maintenance/installation-reads.ts'
import { createRecordedDocuments } from './maintenance/recorded-documents.ts'
import { createRetentionRepository } from './maintenance/retention-repository.ts'
import { createPaymentLinkRepository } from './payment-links/payment-link-repository.ts'
import { createProductRepository } from './payment-links/product-repository.ts'
import { createOperatorPaymentLookups } from './payments/admin-payment-lookups.ts'
import { createPaymentHints } from './payments/payment-hints.ts'
import { createPaymentRepository } from './payments/payment-repository.ts'
import { createRateRepository } from './rates/rate-repository.ts'
import { createReconciliationRepository } from './reconciliation/reconciliation-repository.ts'
import { createRefundRepository } from './refunds/refund-repository.ts'
import { createBookReads } from './reports/book-reads.ts'
import { createChangeFeed } from './reports/change-feed.ts'
import { createOverviewReads } from './reports/overview-reads.ts'
import { createRollups } from './reports/rollups.ts'
import { createIdempotencyRepository } from './requests/idempotency-repository.ts'
import { createOperationRegister } from './requests/operation-repository.ts'
import { createInstallationLifeRepository } from './restore/installation-life-repository.ts'
import { createIssuedRepository } from './restore/issued-repository.ts'
import { createOutboundPause } from './restore/restore-state.ts'
import { createChainCommandRepository } from './scanning/chain-command-repository.ts'
import { createCoinBalanceRepository } from './scanning/coin-balance-repository.ts'
import { createCursorRepository } from './scanning/cursor-repository.ts'
import { createNodeUsageRepository } from './scanning/node-usage-repository.ts'
import { createOwnershipRepository } from './wallets/ownership-repository.ts'
import { createWalletOperations } from './wallets/wallet-operations.ts'
import { createWalletRepository } from './wallets/wallet-repository.ts'
import { createWatchPackRepository } from './wallets/watch-pack-repository.ts'
import { createApiKeyRepository } from './workspaces/api-key-repository.ts'
import { createLogos } from './workspaces/logos.ts'
import { createWorkspaceOperations } from './workspaces/workspace-operations.ts'
import { createWorkspaceRepository } from './workspaces/workspace-repository.ts'

/** The repositories by the names under which use cases receive them. */
export type Repositories = ReturnType<typeof createRepositories>

/** Every repository of a process on one connection. Construction reads and writes nothing; some keep caches, so create them once. */
export function createRepositories(db: Database, { random, logger }: Pick<Runtime, 'random' | 'logger'>) {
  const invoices = createInvoiceRepository(db)
  return {
    advanceFailures: createAdvanceFailures(db),
    apiKeys: createApiKeyRepository(db),
    auditChain: createAuditChainRepository(db),
    auditSearch: createAuditSearch(db),
    audits: createAuditRepository(db),
    balances: createCoinBalanceRepository(db),
    bookReads: createBookReads(db),
    reconciliation: createReconciliationRepository(db),
    changeFeed: createChangeFeed(db, logger),
    commands: createChainCommandRepository(db),
    counts: createInvoiceCounts(db),
    cursors: createCursorRepository(db),
    operations: createEndpointOperations(db),
    deliveries: createDeliveryRepository(db),
    deliveryLookups: createDeliveryLookups(db),
    deliveryReads: createDeliveryReads(db),
    decisions: createExceptionDecisions(db),
    endpoints: createEndpointRepository(db),
    limitedEndpoints: createLimitedEndpoints(db),
    eraser: createCustomerEraser(db),
    events: createEventRepository(db),
    eventStream: createEventStream(db),
    exceptions: createExceptionRepository(db),
    exports: createExportRecords(db),
    ...createInstallationStores(db),
    ...createPreparations(db),
    ...createPayerParts(db),
    ...createInvoiceReads(db),
    /** Concurrent inserts and single reads are sent as one command; for a process with many requests. */
    groupedInvoices: {
      ...invoices,
      insert: createGroupedInsert(db, invoices.insert),
      findInWorkspace: createGroupedFind(db),
    },
    idempotency: createIdempotencyRepository(db),
    invitations: createInvitationRepository(db),
    invoices,
    leases: createLeaseRepository(db),
    loginAttempts: createLoginAttempts(db),
    mailQueue: createMailQueue(db),
    mails: createMailRepository(db),
    memberships: createMembershipRepository(db),
    nodeUsage: createNodeUsageRepository(db),
    operationRegister: createOperationRegister(db),
    outboundPause: createOutboundPause(db),
    overviewReads: createOverviewReads(db),
    payments: createPaymentRepository(db, random),
    rateSnapshots: createRateRepository(db),
    recordedDocuments: createRecordedDocuments(db),
    recoveries: createRecoveryRepository(db),
    refunds: createRefundRepository(db),
    resets: createPasswordResets(db),
    retention: createRetentionRepository(db),
    rollups: createRollups(db),
    sessions: createSessionRepository(db),
    workspaceAdmin: createWorkspaceOperations(db),
    users: createUserRepository(db),
    versions: createInvoiceVersions(db),
    ...createWalletStores(db),
    workspaces: createWorkspaceRepository(db),
  }
}

/** The installation as a whole: whose database this is, and what was issued from it. */
function createInstallationStores(db: Database) {
  return {
    episodes: createEpisodeRepository(db),
    installationLife: createInstallationLifeRepository(db),
    installationReads: createInstanceReads(db),
    issued: createIssuedRepository(db),
    storeLosses: db.losses,
  }
}

/** Keys, addresses and who may receive on them. */
function createWalletStores(db: Database) {
  return {
    ownership: createOwnershipRepository(db),
    walletOperations: createWalletOperations(db),
    wallets: createWalletRepository(db),
    watchPacks: createWatchPackRepository(db),
  }
}

/** What merchants look at before and after money arrives. */
function createPreparations(db: Database) {
  return {
    fundsReads: createFundsReads(db),
    goLive: createGoLiveRepository(db),
    verifiedBackups: createVerifiedBackups(db),
  }
}

/** What payers open and send, and what operators look up of it. */
function createPayerParts(db: Database) {
  return {
    hints: createPaymentHints(db),
    logos: createLogos(db),
    paymentLinks: createPaymentLinkRepository(db),
    paymentLookups: createOperatorPaymentLookups(db),
    products: createProductRepository(db),
  }
}

/** What operators read and write about invoices besides their state. */
function createInvoiceReads(db: Database) {
  return { invoiceLookups: createInvoiceLookups(db), invoiceNotes: createInvoiceNotes(db) }
}
