import type { StartService } from '#services/context.ts'
import { createDeliveryRepository } from '#shared/db/delivery-repository.ts'
import { createEndpointRepository } from '#shared/db/endpoint-repository.ts'
import { createEventRepository } from '#shared/db/event-repository.ts'
import { createExceptionRepository } from '#shared/db/exception-repository.ts'
import { createInvoiceRepository } from '#shared/db/invoice-repository.ts'
import { createMailRepository } from '#shared/db/mail-repository.ts'
import { createWorkspaceRepository } from '#shared/db/workspace-repository.ts'
import { createKicker } from '#shared/queues/kicker.ts'
import { createQueueWorker } from '#shared/queues/worker.ts'
import { OUTBOX_SHARDS } from '#shared/usecases/ports/invoices.ts'
import { QUEUES } from '#shared/usecases/ports/runtime.ts'
import { createOutboxRelay } from '#shared/usecases/relay-outbox.ts'

const SWEEP_EVERY_MS = 1_000
/** Entries older than this were not kicked, or their worker died. */
const OVERDUE_AFTER_MS = 1_000

/**
 * Queue `outbox`: producer = everything that changes an invoice, and the sweep; consumer = this process; payload =
 * `shard-<n>`; deduplicated by it; events of one invoice keep their order. A job relays whatever waits in its shard, so
 * losing one costs a sweep interval (1 s).
 */
export const start: StartService = async (context) => {
  const { db, redis, clock, random, logger, metrics } = context
  const ambient = { clock, random, logger, metrics }
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
    workspaces: createWorkspaceRepository(db),
    urls: { checkoutBaseUrl: context.config.checkout.baseUrl },
  })
  const worker = createQueueWorker(redis, ambient, {
    queue: QUEUES.outbox,
    concurrency: OUTBOX_SHARDS,
    handle: (id) => relay.relayShard(shardOf(id)),
    sweep: async () => (await invoices.overdueOutboxShards(clock.now() - OVERDUE_AFTER_MS)).map((n) => `shard-${n}`),
    sweepEveryMs: SWEEP_EVERY_MS,
  })
  return async () => {
    await worker.stop()
    await kicker.close()
  }
}

function shardOf(id: string): number {
  const shard = Number(/^shard-(\d+)$/.exec(id)?.[1])
  if (!Number.isInteger(shard) || shard >= OUTBOX_SHARDS) throw new TypeError(`no outbox shard ${id}`)
  return shard
}
