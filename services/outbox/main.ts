import type { StartService } from '#services/context.ts'
import { createAuditRepository } from '#shared/db/audit/audit-repository.ts'
import { createDeliveryRepository } from '#shared/db/deliveries/delivery-repository.ts'
import { createEndpointRepository } from '#shared/db/endpoints/endpoint-repository.ts'
import { createEventRepository } from '#shared/db/events/event-repository.ts'
import { createExceptionRepository } from '#shared/db/exceptions/exception-repository.ts'
import { createInvoiceRepository } from '#shared/db/invoices/invoice-repository.ts'
import { createMailRepository } from '#shared/db/mails/mail-repository.ts'
import { createWorkspaceRepository } from '#shared/db/workspaces/workspace-repository.ts'
import { createKicker } from '#shared/queues/kicker.ts'
import { createOutboxWorker } from '#shared/queues/outbox-queue.ts'
import { createOutboxRelay } from '#shared/usecases/outbox/relay-outbox.ts'

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
