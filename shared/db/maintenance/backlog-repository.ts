import type mongoose from 'mongoose'
import { AUDIT_LOG } from '#shared/db/audit/audit-model.ts'
import type { CollectionModel } from '#shared/db/connection/collection-model.ts'
import type { Database } from '#shared/db/connection/connect.ts'
import { toDate, toMs } from '#shared/db/connection/dates.ts'
import { isAny } from '#shared/db/connection/is-any.ts'
import { WEBHOOK_DELIVERIES } from '#shared/db/deliveries/delivery-model.ts'
import { dueByState, PENDING } from '#shared/db/deliveries/delivery-scopes.ts'
import { DELIVERY_RECOVERIES } from '#shared/db/deliveries/recovery-model.ts'
import { createLimitedEndpoints } from '#shared/db/endpoints/limited-endpoints.ts'
import { countEachKind } from '#shared/db/exceptions/exception-decisions.ts'
import { EXCEPTIONS, INBOX_OPEN } from '#shared/db/exceptions/exception-model.ts'
import { dueForAction } from '#shared/db/invoices/invoice-mapping.ts'
import { INVOICES } from '#shared/db/invoices/invoice-model.ts'
import { MAILS } from '#shared/db/mails/mail-model.ts'
import { PAYMENTS } from '#shared/db/payments/payment-model.ts'
import { MODES, NETWORK_IDS } from '#shared/domain/enumerations.ts'
import type { Ms } from '#shared/domain/invoice/model.ts'
import { OUTBOX_SHARDS } from '#shared/ports/invoices.ts'
import { QUEUES, type QueueName } from '#shared/ports/runtime.ts'

/** Waiting work of one queue, as stored; `audit-chain` stands for audit rows that are not chained. */
interface QueueBacklog {
  readonly queue: QueueName | 'audit-chain'
  /** Waiting rows, due or not; counted up to 10,000. */
  readonly depth: number
  /** Due time of the row that has waited longest; null when none is due. */
  readonly oldestDueAt: Ms | null
}

/** A larger count is reported as this one and must not cost more. */
const COUNT_MAX = 10_000

/** Backlogs on MongoDB; each query is served by one partial index. */
export function createBacklogRepository(db: Database) {
  const invoices = db.collection(INVOICES)
  return {
    /** Every queue whose work is in the store, and the endpoints with due deliveries. */
    queues: async (
      at: Ms,
    ): Promise<{ readonly queues: readonly QueueBacklog[]; readonly dueEndpoints: DueEndpoints }> => {
      const [others, webhooks] = await Promise.all([Promise.all(backlogsInOrder(db, at)), deliveries(db, at)])
      return { queues: [...others, webhooks.backlog], dueEndpoints: webhooks.dueEndpoints }
    },
    /** The deadline, among those reached at `at`, that has waited longest on this action chain; null when none has. */
    oldestDeadline: async (actionChain: string, at: Ms): Promise<Ms | null> => {
      const due = { of: INVOICES, filter: dueForAction(actionChain, at), hint: 'invoice_next_action' }
      if (!(await isAny(db, due))) return null
      const first = await invoices.findOne(
        { actionChain, nextActionAt: { $lte: toDate(at) } },
        { sort: { nextActionAt: 1 }, projection: { nextActionAt: 1 }, hint: 'invoice_next_action' },
      )
      return ms(first?.nextActionAt)
    },
    /** Open exceptions by kind; counted up to 10,000 in all. */
    openExceptions: async (): Promise<ReadonlyMap<string, number>> => {
      const any = { of: EXCEPTIONS, filter: { open: true }, hint: INBOX_OPEN }
      if (!(await isAny(db, any))) return new Map()
      return await countEachKind(db, { open: true }, COUNT_MAX)
    },
  }
}

/** The type of what {@link createBacklogRepository} returns. */
export type BacklogRepository = ReturnType<typeof createBacklogRepository>

const ms = (date: Date | null | undefined): Ms | null => (date === null || date === undefined ? null : toMs(date))

/** Work that waits in one collection: its rows, the date on which each falls due, and the index of its sweep. */
export interface WaitingWork {
  readonly of: CollectionModel<mongoose.mongo.Document>
  readonly filter: mongoose.mongo.Document
  readonly field: string
  readonly hint: string
}

const ACTION_CHAINS = ['none', ...MODES.flatMap((mode) => NETWORK_IDS.map((network) => `${mode}:${network}`))]
const inShards = { outboxShard: { $in: Array.from({ length: OUTBOX_SHARDS }, (_, shard) => shard) } }

/** All work but deliveries, whose index begins with the endpoint. A sweep that found a stored payment moves it to the end, so its age is that of the last check. */
export const WAITING_WORK = {
  deadlines: {
    ...{ of: INVOICES, filter: { actionChain: { $in: ACTION_CHAINS } } },
    ...{ field: 'nextActionAt', hint: 'invoice_next_action' },
  },
  payments: { of: PAYMENTS, filter: {}, field: 'dirtyAt', hint: 'payment_dirty' },
  outbox: { of: INVOICES, filter: inShards, field: 'outboxAt', hint: 'invoice_outbox' },
  mails: { of: MAILS, filter: { status: 'pending' }, field: 'dueAt', hint: 'mail_due' },
  recoveries: { of: DELIVERY_RECOVERIES, filter: { state: 'open' }, field: 'dueAt', hint: 'recovery_due' },
  audits: { of: AUDIT_LOG, filter: { waits: true }, field: 'at', hint: 'audit_waiting' },
} as const satisfies Record<string, WaitingWork>

/** Every row has a time: without a condition on it a question that carries no hint would not be served by the index. */
const EVER = { $gt: new Date(0) }

/**
 * Nothing waits on most installations most of the time, and all these questions together find that out with one command. Otherwise the
 * oldest row is read and the rows are counted.
 */
async function backlogOf(
  db: Database,
  at: Ms,
  queue: QueueBacklog['queue'],
  { of, filter, field, hint }: WaitingWork,
): Promise<QueueBacklog> {
  const waiting = { ...filter, [field]: EVER }
  if (!(await isAny(db, { of, filter: waiting, hint }))) return { queue, depth: 0, oldestDueAt: null }
  const rows = db.collection(of)
  const [first, depth] = await Promise.all([
    rows.findOne(waiting, { sort: { [field]: 1 }, projection: { [field]: 1 }, hint }),
    rows.countDocuments(waiting, { hint, limit: COUNT_MAX }),
  ])
  const dueAt = ms(first?.[field])
  return { queue, depth, oldestDueAt: dueAt !== null && dueAt <= at ? dueAt : null }
}

/** The queues whose oldest row an index finds. */
const backlogsInOrder = (db: Database, at: Ms): readonly Promise<QueueBacklog>[] => [
  backlogOf(db, at, QUEUES.outbox, WAITING_WORK.outbox),
  backlogOf(db, at, QUEUES.invoiceTransitions, WAITING_WORK.payments),
  backlogOf(db, at, QUEUES.mail, WAITING_WORK.mails),
  backlogOf(db, at, QUEUES.recoveries, WAITING_WORK.recoveries),
  backlogOf(db, at, 'audit-chain', WAITING_WORK.audits),
]

/** Endpoints with due deliveries by what would help: `free` a free place, `slow` more at once, `failing` their own repair. */
export type DueEndpoints = Readonly<
  Record<'free' | 'slow' | 'failing', { readonly endpoints: number; readonly oldestDueAt: Ms | null }>
>

const NOTHING_DUE = { endpoints: 0, oldestDueAt: null } as const
const NONE_DUE: DueEndpoints = { free: NOTHING_DUE, slow: NOTHING_DUE, failing: NOTHING_DUE }

/** What is due at endpoints at their own limit is no work for a free place, so the age is that of the others. */
async function deliveries(
  db: Database,
  at: Ms,
): Promise<{ readonly backlog: QueueBacklog; readonly dueEndpoints: DueEndpoints }> {
  const rows = db.collection(WEBHOOK_DELIVERIES)
  const queue = QUEUES.webhooks
  // The index begins with the endpoint, so the oldest row is found endpoint by endpoint.
  const hint = 'delivery_due'
  const any = { of: WEBHOOK_DELIVERIES, filter: PENDING, hint }
  if (!(await isAny(db, any))) return { backlog: { queue, depth: 0, oldestDueAt: null }, dueEndpoints: NONE_DUE }
  const limited = await createLimitedEndpoints(db).list(at)
  const ids = (isFailing: boolean) => limited.flatMap((one) => (one.isFailing === isFailing ? one.id : []))
  const [depth, found] = await Promise.all([
    rows.countDocuments({ status: 'pending' }, { hint, limit: COUNT_MAX }),
    rows
      .aggregate<{ _id: keyof DueEndpoints; endpoints: number; oldestDueAt: Date }>(
        dueByState(at, { slow: ids(false), failing: ids(true) }),
      )
      .toArray(),
  ])
  const dueEndpoints = {
    ...NONE_DUE,
    ...Object.fromEntries(
      found.map(({ _id, endpoints, oldestDueAt }) => [_id, { endpoints, oldestDueAt: toMs(oldestDueAt) }]),
    ),
  }
  return { backlog: { queue, depth, oldestDueAt: dueEndpoints.free.oldestDueAt }, dueEndpoints }
}
