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
        waitingOutboxes(db),
        dirtyPayments(db),
        deliveries(db, at),
        mails(db, at),
        recoveries(db, at),
        auditRows(db),
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

async function waitingOutboxes(db: Database): Promise<QueueBacklog> {
  const invoices = db.collection(INVOICES)
  const waiting = { outboxShard: { $in: SHARDS }, outboxAt: { $exists: true } }
  const hint = 'invoice_outbox'
  const [depth, first] = await Promise.all([
    invoices.countDocuments(waiting, { hint, limit: COUNT_MAX }),
    invoices.findOne(waiting, { sort: { outboxAt: 1 }, projection: { outboxAt: 1 }, hint }),
  ])
  return { queue: QUEUES.outbox, depth, oldestDueAt: ms(first?.outboxAt) }
}

/** Stored payments not folded into their invoice. A sweep that found one moves it to the end, so its age is that of the last check. */
async function dirtyPayments(db: Database): Promise<QueueBacklog> {
  const payments = db.collection(PAYMENTS)
  const dirty = { dirtyAt: { $exists: true } }
  const hint = 'payment_dirty'
  const [depth, first] = await Promise.all([
    payments.countDocuments(dirty, { hint, limit: COUNT_MAX }),
    payments.findOne(dirty, { sort: { dirtyAt: 1 }, projection: { dirtyAt: 1 }, hint }),
  ])
  return { queue: QUEUES.invoiceTransitions, depth, oldestDueAt: ms(first?.dirtyAt) }
}

async function deliveries(db: Database, at: Ms): Promise<QueueBacklog> {
  const rows = db.collection(WEBHOOK_DELIVERIES)
  const [depth, oldest] = await Promise.all([
    rows.countDocuments({ status: 'pending' }, { hint: 'delivery_due', limit: COUNT_MAX }),
    rows.aggregate<{ dueAt: Date }>(dueEndpoints(at, 1)).toArray(),
  ])
  return { queue: QUEUES.webhooks, depth, oldestDueAt: ms(oldest[0]?.dueAt) }
}

async function mails(db: Database, at: Ms): Promise<QueueBacklog> {
  const rows = db.collection(MAILS)
  const pending = { status: 'pending' as const }
  const hint = 'mail_due'
  const [depth, first] = await Promise.all([
    rows.countDocuments(pending, { hint, limit: COUNT_MAX }),
    rows.findOne({ ...pending, dueAt: { $lte: toDate(at) } }, { sort: { dueAt: 1 }, projection: { dueAt: 1 }, hint }),
  ])
  return { queue: QUEUES.mail, depth, oldestDueAt: ms(first?.dueAt) }
}

async function recoveries(db: Database, at: Ms): Promise<QueueBacklog> {
  const rows = db.collection(DELIVERY_RECOVERIES)
  const open = { state: 'open' as const }
  const hint = 'recovery_due'
  const [depth, first] = await Promise.all([
    rows.countDocuments(open, { hint, limit: COUNT_MAX }),
    rows.findOne({ ...open, dueAt: { $lte: toDate(at) } }, { sort: { dueAt: 1 }, projection: { dueAt: 1 }, hint }),
  ])
  return { queue: QUEUES.recoveries, depth, oldestDueAt: ms(first?.dueAt) }
}

async function auditRows(db: Database): Promise<QueueBacklog> {
  const rows = db.collection(AUDIT_LOG)
  const waiting = { waits: true as const }
  const hint = 'audit_waiting'
  const [depth, first] = await Promise.all([
    rows.countDocuments(waiting, { hint, limit: COUNT_MAX }),
    rows.findOne(waiting, { sort: { at: 1, _id: 1 }, projection: { at: 1 }, hint }),
  ])
  return { queue: 'audit-chain', depth, oldestDueAt: ms(first?.at) }
}
