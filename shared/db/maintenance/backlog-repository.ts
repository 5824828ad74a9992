import { AUDIT_LOG } from '#shared/db/audit/audit-model.ts'
import type { Database } from '#shared/db/connection/connect.ts'
import { toDate, toMs } from '#shared/db/connection/dates.ts'
import { WEBHOOK_DELIVERIES } from '#shared/db/deliveries/delivery-model.ts'
import { dueEndpoints } from '#shared/db/deliveries/delivery-scopes.ts'
import { DELIVERY_RECOVERIES } from '#shared/db/deliveries/recovery-model.ts'
import { EXCEPTIONS, INBOX_OPEN } from '#shared/db/exceptions/exception-model.ts'
import { INVOICES } from '#shared/db/invoices/invoice-model.ts'
import { MAILS } from '#shared/db/mails/mail-model.ts'
import { PAYMENTS } from '#shared/db/payments/payment-model.ts'
import { EXCEPTION_KINDS } from '#shared/domain/enumerations.ts'
import type { Ms } from '#shared/domain/invoice/model.ts'
import type { BacklogRepository, QueueBacklog } from '#shared/ports/backlogs.ts'
import { OUTBOX_SHARDS } from '#shared/ports/invoices.ts'
import { QUEUES } from '#shared/ports/runtime.ts'

/** A larger count is reported as this one and must not cost more. */
const COUNT_MAX = 10_000
const SHARDS = Array.from({ length: OUTBOX_SHARDS }, (_, shard) => shard)

/** Backlogs on MongoDB; each query is served by one partial index. */
export function createBacklogRepository(db: Database): BacklogRepository {
  const invoices = db.collection(INVOICES)
  return {
    queues: (at) =>
      Promise.all([
        waitingOutboxes(db, at),
        dirtyPayments(db, at),
        deliveries(db, at),
        mails(db, at),
        recoveries(db, at),
        auditRows(db, at),
      ]),
    oldestDeadline: async (actionChain, at) => {
      const first = await invoices.findOne(
        { actionChain, nextActionAt: { $lte: toDate(at) } },
        { sort: { nextActionAt: 1 }, projection: { nextActionAt: 1 }, hint: 'invoice_next_action' },
      )
      return ms(first?.nextActionAt)
    },
    openExceptions: async () => {
      const rows = db.collection(EXCEPTIONS)
      const any = { projection: { _id: 0, open: 1 }, hint: INBOX_OPEN } as const
      if ((await rows.findOne({ open: true }, any)) === null) return new Map()
      // Kind by kind and from the index alone, so that a flood of one kind hides no other one.
      const counts = await Promise.all(
        EXCEPTION_KINDS.map(async (kind) => {
          const open = { open: true, kind }
          const count = await rows.countDocuments(open, { hint: INBOX_OPEN, limit: COUNT_MAX })
          return [kind, count] as const
        }),
      )
      return new Map(counts.filter(([, count]) => count > 0))
    },
  }
}

const ms = (date: Date | null | undefined): Ms | null => (date === null || date === undefined ? null : toMs(date))

/**
 * The row that has waited longest is read first: when there is none, as on most installations most of the time, that is the whole answer.
 * Otherwise the rows are counted. `first` = when the first row falls due; undefined without any row.
 */
async function backlogOf(
  { queue, at, first }: { readonly queue: QueueBacklog['queue']; readonly at: Ms; readonly first: Date | undefined },
  count: () => Promise<number>,
): Promise<QueueBacklog> {
  if (first === undefined) return { queue, depth: 0, oldestDueAt: null }
  const dueAt = toMs(first)
  return { queue, depth: await count(), oldestDueAt: dueAt <= at ? dueAt : null }
}

async function waitingOutboxes(db: Database, at: Ms): Promise<QueueBacklog> {
  const invoices = db.collection(INVOICES)
  const waiting = { outboxShard: { $in: SHARDS }, outboxAt: { $exists: true } }
  const hint = 'invoice_outbox'
  const row = await invoices.findOne(waiting, { sort: { outboxAt: 1 }, projection: { outboxAt: 1 }, hint })
  return backlogOf({ queue: QUEUES.outbox, at, first: row?.outboxAt }, () =>
    invoices.countDocuments(waiting, { hint, limit: COUNT_MAX }),
  )
}

/** Stored payments not folded into their invoice. A sweep that found one moves it to the end, so its age is that of the last check. */
async function dirtyPayments(db: Database, at: Ms): Promise<QueueBacklog> {
  const payments = db.collection(PAYMENTS)
  const dirty = { dirtyAt: { $exists: true } }
  const hint = 'payment_dirty'
  const row = await payments.findOne(dirty, { sort: { dirtyAt: 1 }, projection: { dirtyAt: 1 }, hint })
  return backlogOf({ queue: QUEUES.invoiceTransitions, at, first: row?.dirtyAt }, () =>
    payments.countDocuments(dirty, { hint, limit: COUNT_MAX }),
  )
}

async function deliveries(db: Database, at: Ms): Promise<QueueBacklog> {
  const rows = db.collection(WEBHOOK_DELIVERIES)
  const queue = QUEUES.webhooks
  // The index begins with the endpoint, so the oldest row is found endpoint by endpoint.
  const hint = 'delivery_due'
  if ((await rows.findOne({ status: 'pending' }, { projection: { _id: 1 }, hint })) === null)
    return { queue, depth: 0, oldestDueAt: null }
  const [depth, oldest] = await Promise.all([
    rows.countDocuments({ status: 'pending' }, { hint, limit: COUNT_MAX }),
    rows.aggregate<{ dueAt: Date }>(dueEndpoints(at, 1)).toArray(),
  ])
  return { queue, depth, oldestDueAt: ms(oldest[0]?.dueAt) }
}

async function mails(db: Database, at: Ms): Promise<QueueBacklog> {
  const rows = db.collection(MAILS)
  const pending = { status: 'pending' as const }
  const hint = 'mail_due'
  const row = await rows.findOne(pending, { sort: { dueAt: 1 }, projection: { dueAt: 1 }, hint })
  return backlogOf({ queue: QUEUES.mail, at, first: row?.dueAt }, () =>
    rows.countDocuments(pending, { hint, limit: COUNT_MAX }),
  )
}

async function recoveries(db: Database, at: Ms): Promise<QueueBacklog> {
  const rows = db.collection(DELIVERY_RECOVERIES)
  const open = { state: 'open' as const }
  const hint = 'recovery_due'
  const row = await rows.findOne(open, { sort: { dueAt: 1 }, projection: { dueAt: 1 }, hint })
  return backlogOf({ queue: QUEUES.recoveries, at, first: row?.dueAt }, () =>
    rows.countDocuments(open, { hint, limit: COUNT_MAX }),
  )
}

async function auditRows(db: Database, at: Ms): Promise<QueueBacklog> {
  const rows = db.collection(AUDIT_LOG)
  const waiting = { waits: true as const }
  const hint = 'audit_waiting'
  const row = await rows.findOne(waiting, { sort: { at: 1, _id: 1 }, projection: { at: 1 }, hint })
  return backlogOf({ queue: 'audit-chain', at, first: row?.at }, () =>
    rows.countDocuments(waiting, { hint, limit: COUNT_MAX }),
  )
}
