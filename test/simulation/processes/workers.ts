import { startHeadroomLoop } from '#services/invoices/headroom-loop.ts'
import { createAuditRepository } from '#shared/db/audit/audit-repository.ts'
import { createDeliveryRepository } from '#shared/db/deliveries/delivery-repository.ts'
import { createEndpointRepository } from '#shared/db/endpoints/endpoint-repository.ts'
import { createEventRepository } from '#shared/db/events/event-repository.ts'
import { createExceptionRepository } from '#shared/db/exceptions/exception-repository.ts'
import { createLeaseRepository } from '#shared/db/installation/lease-repository.ts'
import { createInvoiceRepository } from '#shared/db/invoices/invoice-repository.ts'
import { createMailRepository } from '#shared/db/mails/mail-repository.ts'
import { createWorkspaceRepository } from '#shared/db/workspaces/workspace-repository.ts'
import type { LeaseRepository } from '#shared/ports/leases.ts'
import { QUEUES } from '#shared/ports/runtime.ts'
import { createDispatcher, type DispatchLane } from '#shared/usecases/deliveries/dispatch-deliveries.ts'
import { advanceInvoice, overdueInvoices } from '#shared/usecases/invoices/advance-invoice.ts'
import type { DeadlineTurns } from '#shared/usecases/invoices/deadlines.ts'
import { createOutboxRelay } from '#shared/usecases/outbox/relay-outbox.ts'
import { simAddressBook } from '../world/address-book.ts'
import { createSimHttpOut } from '../world/http-out.ts'
import { simSecretBox } from '../world/secret-box.ts'
import type { Sim } from '../world/sim.ts'
import type { Program } from '../world/supervisor.ts'
import { wireInvoices } from './locks.ts'
import { nobodyWaitsFor, nothingToAdvance, nothingToRelay, nothingToSend } from './nothing-due.ts'
import { surround } from './surroundings.ts'

const SWEEP_MS = 1_000
/** Addresses derived ahead; few, because each is a document of every seed. */
const HEADROOM = 24
const HEADROOM_EVERY_MS = 12_000
const HEADROOM_ANYWAY_MS = 3_600_000

/** The `invoices` process: transitions, deadlines, and the loop that derives addresses and ends claims. */
export const invoicesProgram: Program = async (sim, running) => {
  const around = await surround(sim, running)
  const { db } = around
  const base = wireInvoices(around)
  const invoices = {
    ...base.invoices,
    dueForAction: async (...asked: Parameters<typeof base.invoices.dueForAction>) =>
      nobodyWaitsFor(sim, asked[0]) ? [] : base.invoices.dueForAction(...asked),
  }
  const deps = { ...base, invoices, exceptions: createExceptionRepository(db) }
  const turns: DeadlineTurns = new Map()
  around.work({
    queue: QUEUES.invoiceTransitions,
    concurrency: 16,
    handle: (invoiceId) => advanceInvoice(deps, invoiceId),
    sweep: async () => (nothingToAdvance(sim) ? [] : overdueInvoices(deps, turns)),
    sweepEveryMs: SWEEP_MS,
  })
  startHeadroomLoop(
    {
      ...deps,
      leases: atLeisure(sim, createLeaseRepository(db)),
      mails: createMailRepository(db),
      secretBox: simSecretBox,
      addressBook: simAddressBook,
    },
    HEADROOM,
  )
}

/** The loop asks for its lease twice a second; here it does when keys or invoices changed since, and each question takes its time. */
function atLeisure(sim: Sim, leases: LeaseRepository): LeaseRepository {
  const look = (): readonly unknown[] => [
    ...sim.store.documents('key_material'),
    sim.store.documents('invoices').length,
    Math.floor(sim.scheduler.now / HEADROOM_ANYWAY_MS),
  ]
  let seen: readonly unknown[] = []
  return {
    ...leases,
    acquire: async (id, owner, leaseMs) => {
      if (seen.length > 0) await new Promise((resolve) => setTimeout(resolve, HEADROOM_EVERY_MS))
      const now = look()
      if (now.length === seen.length && now.every((one, at) => one === seen[at])) return false
      seen = now
      return leases.acquire(id, owner, leaseMs)
    },
  }
}

/** The `outbox` process. */
export const outboxProgram: Program = async (sim, running) => {
  const around = await surround(sim, running)
  const { db, clock, random, logger, metrics, kicker } = around
  const invoices = createInvoiceRepository(db)
  const relay = createOutboxRelay({
    clock,
    random,
    logger,
    metrics,
    kicker,
    invoices,
    events: createEventRepository(db),
    endpoints: createEndpointRepository(db),
    deliveries: createDeliveryRepository(db),
    exceptions: createExceptionRepository(db),
    mails: createMailRepository(db),
    audits: createAuditRepository(db),
    workspaces: createWorkspaceRepository(db),
    urls: { checkoutBaseUrl: 'http://pay.test' },
  })
  around.work({
    queue: QUEUES.outbox,
    concurrency: 8,
    handle: (id) => relay.relayShard(Number(id.slice('shard-'.length))),
    sweep: async () => (nothingToRelay(sim) ? [] : (await relay.overdueShards()).map((shard) => `shard-${shard}`)),
    sweepEveryMs: SWEEP_MS,
  })
}

/** The `webhooks` process: both lanes of one dispatcher. */
export const webhooksProgram: Program = async (sim, running) => {
  const around = await surround(sim, running)
  const { db, clock, random, logger, metrics, kicker, after } = around
  const dispatcher = createDispatcher({
    clock,
    random,
    logger,
    metrics,
    kicker,
    after,
    stopwatch: () => performance.now(),
    deliveries: createDeliveryRepository(db),
    endpoints: createEndpointRepository(db),
    events: createEventRepository(db),
    mails: createMailRepository(db),
    workspaces: createWorkspaceRepository(db),
    secretBox: simSecretBox,
    allowLocalhost: false,
    http: createSimHttpOut(around),
    maxInFlight: { normal: 64, slow: 16 },
  })
  const lane = (name: DispatchLane): void =>
    around.work({
      queue: name === 'slow' ? QUEUES.webhooksSlow : QUEUES.webhooks,
      concurrency: 16,
      handle: (endpointId) => dispatcher.drain(name, endpointId),
      sweep: async () => (nothingToSend(sim) ? [] : dispatcher.overdue(name)),
      sweepEveryMs: SWEEP_MS,
    })
  lane('normal')
  lane('slow')
}
