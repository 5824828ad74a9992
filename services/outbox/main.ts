import type { StartService } from '#services/context.ts'
import { createAuditRepository } from '#shared/db/audit-repository.ts'
import { createDeliveryRepository } from '#shared/db/delivery-repository.ts'
import { createEndpointRepository } from '#shared/db/endpoint-repository.ts'
import { createEventRepository } from '#shared/db/event-repository.ts'
import { createExceptionRepository } from '#shared/db/exception-repository.ts'
import { createInvoiceRepository } from '#shared/db/invoice-repository.ts'
import { createMailRepository } from '#shared/db/mail-repository.ts'
import { createWorkspaceRepository } from '#shared/db/workspace-repository.ts'
import { createKicker } from '#shared/queues/kicker.ts'
import { createOutboxWorker } from '#shared/queues/outbox-queue.ts'
import { createOutboxRelay } from '#shared/usecases/relay-outbox.ts'

/** Turns saved outbox entries into events, deliveries, mails, inbox entries and audit rows, each exactly once. */
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
  return async () => {
    await worker.stop()
    await kicker.close()
  }
}
