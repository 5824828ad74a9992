import type { StartService } from '#services/context.ts'
import { createAuditChainRepository } from '#shared/db/audit-chain-repository.ts'
import { createAuditRepository } from '#shared/db/audit-repository.ts'
import { createBooksRepository } from '#shared/db/books-repository.ts'
import { createCursorRepository } from '#shared/db/cursor-repository.ts'
import { createCustomerEraser } from '#shared/db/customer-eraser.ts'
import { createDeliveryRepository } from '#shared/db/delivery-repository.ts'
import { createEndpointRepository } from '#shared/db/endpoint-repository.ts'
import { createEventRepository } from '#shared/db/event-repository.ts'
import { createExceptionDesk } from '#shared/db/exception-desk.ts'
import { createExceptionRepository } from '#shared/db/exception-repository.ts'
import { createInvoiceRepository } from '#shared/db/invoice-repository.ts'
import { createLeaseRepository } from '#shared/db/lease-repository.ts'
import { createMailRepository } from '#shared/db/mail-repository.ts'
import { createRetentionRepository } from '#shared/db/retention-repository.ts'
import { createWorkspaceRepository } from '#shared/db/workspace-repository.ts'
import { createKicker } from '#shared/queues/kicker.ts'
import { createOutboxWorker } from '#shared/queues/outbox-queue.ts'
import { createAuditKeys } from '#shared/runtime/audit-keys.ts'
import { createOutboxRelay } from '#shared/usecases/relay-outbox.ts'
import { startAuditChainLoop } from './audit-chain-loop.ts'
import { startBooksLoop } from './books-loop.ts'
import { startDeskLoop } from './desk-loop.ts'
import { startRetentionLoop } from './retention-loop.ts'
import { startRecoveries } from './start-recoveries.ts'

/**
 * Turns saved outbox entries into events, deliveries, mails, inbox entries and audit rows, each exactly once. Beside it, one
 * process at a time chains the rows of the audit trail, one mails open exceptions and erases customers, one removes what is past
 * its life, and one judges the books of invoices.
 */
export const start: StartService = async (context) => {
  const { db, redis, clock, random, logger, metrics, pulses, tracer } = context
  const ambient = { clock, random, logger, metrics, pulses, tracer }
  const kicker = createKicker(redis, ambient)
  const invoices = createInvoiceRepository(db)
  const relay = createOutboxRelay({
    ...ambient,
    kicker,
    invoices,
    events: createEventRepository(db),
    endpoints: createEndpointRepository(db),
    deliveries: createDeliveryRepository(db),
    exceptions: createExceptionRepository(db),
    mails: createMailRepository(db),
    audits: createAuditRepository(db),
    workspaces: createWorkspaceRepository(db),
    urls: { checkoutBaseUrl: context.config.checkout.baseUrl },
  })
  const worker = createOutboxWorker(redis, ambient, {
    relay: (shard) => relay.relayShard(shard),
    overdue: () => relay.overdueShards(),
  })
  const recoveries = startRecoveries(context, kicker)
  const stopChain = startAuditChainLoop({
    ...ambient,
    chain: createAuditChainRepository(db),
    keys: createAuditKeys(context.config.secrets.masterKey),
    leases: createLeaseRepository(db),
  })
  const stopRetention = startRetentionLoop({
    ...ambient,
    retention: createRetentionRepository(db),
    leases: createLeaseRepository(db),
  })
  const stopBooks = startBooksLoop({
    ...ambient,
    books: createBooksRepository(db),
    cursors: createCursorRepository(db),
    leases: createLeaseRepository(db),
  })
  const stopDesk = startDeskLoop({
    ...ambient,
    kicker,
    desk: createExceptionDesk(db),
    eraser: createCustomerEraser(db),
    mails: createMailRepository(db),
    workspaces: createWorkspaceRepository(db),
    leases: createLeaseRepository(db),
  })
  return async () => {
    await Promise.all([worker.stop(), recoveries.stop(), stopChain(), stopRetention(), stopBooks(), stopDesk()])
    await kicker.close()
  }
}
