import type mongoose from 'mongoose'
import { AUDIT_LOG } from '#shared/db/audit/audit-model.ts'
import type { Database } from '#shared/db/connection/connect.ts'
import { toDate, toMs } from '#shared/db/connection/dates.ts'
import { WEBHOOK_DELIVERIES } from '#shared/db/deliveries/delivery-model.ts'
import { DUE_INDEX, dueEndpoints } from '#shared/db/deliveries/delivery-scopes.ts'
import { DELIVERY_RECOVERIES } from '#shared/db/deliveries/recovery-model.ts'
import { INSTALLATION } from '#shared/db/installation/installation-model.ts'
import { LEASES } from '#shared/db/installation/lease-model.ts'
import { PROCESSES, type ProcessState } from '#shared/db/installation/process-model.ts'
import { INVOICES } from '#shared/db/invoices/invoice-model.ts'
import { MAILS } from '#shared/db/mails/mail-model.ts'
import { PAYMENTS } from '#shared/db/payments/payment-model.ts'
import { MODES, NETWORK_IDS } from '#shared/domain/enumerations.ts'
import type { Ms } from '#shared/domain/invoice/model.ts'
import { COUNT_MAX } from '#shared/ports/delivery-search.ts'
import { OUTBOX_SHARDS } from '#shared/ports/invoices.ts'
import type { QueueName } from '#shared/ports/runtime.ts'

/** Waiting work of one kind in the store. `due` stops at `COUNT_MAX` of the delivery search. */
interface WorkDepth {
  readonly work: QueueName | 'payments' | 'audit-chain'
  /** Overdue work. */
  readonly due: number
  /** When the oldest of it fell due; null when nothing is due. */
  readonly oldestDueAt: Ms | null
}

/** Endpoints whose due rows are counted. */
const ENDPOINTS_MAX = 1_000
const PROCESSES_MAX = 500
const ACTION_CHAINS = ['none', ...MODES.flatMap((mode) => NETWORK_IDS.map((network) => `${mode}:${network}`))]
const SHARDS = Array.from({ length: OUTBOX_SHARDS }, (_, shard) => shard)

/** Figures for instance admins, on MongoDB. Every figure is read from the index of its sweep. */
export function createInstanceReads(db: Database) {
  return {
    depths: async (at: Ms): Promise<readonly WorkDepth[]> => {
      const until = { $lte: toDate(at) }
      const next = { actionChain: { $in: ACTION_CHAINS }, nextActionAt: until }
      const outbox = { outboxShard: { $in: SHARDS }, outboxAt: until }
      const depth = depthsOf(db)
      return await Promise.all([
        depth('invoice-transitions', INVOICES, { filter: next, field: 'nextActionAt', hint: 'invoice_next_action' }),
        depth('payments', PAYMENTS, { filter: { dirtyAt: until }, field: 'dirtyAt', hint: 'payment_dirty' }),
        depth('outbox', INVOICES, { filter: outbox, field: 'outboxAt', hint: 'invoice_outbox' }),
        dueDeliveries(db, at),
        depth('mail', MAILS, {
          filter: { status: 'pending', dueAt: until },
          field: 'dueAt',
          hint: 'mail_due',
        }),
        depth('recoveries', DELIVERY_RECOVERIES, {
          filter: { state: 'open', dueAt: until },
          field: 'dueAt',
          hint: 'recovery_due',
        }),
        depth('audit-chain', AUDIT_LOG, { filter: { waits: true }, field: 'at', hint: 'audit_waiting' }),
      ])
    },
    /** The named leases; an expired one has no owner. */
    leases: async () =>
      (await db.collection(LEASES).find().sort({ _id: 1 }).toArray()).map(({ _id, owner, until, epoch }) => {
        return { id: _id, owner, until: toMs(until), epoch }
      }),
    /** When Redis was last found to have restarted or been replaced; null before the first check. */
    redisSince: async (): Promise<Ms | null> => {
      const fact = await db.collection(INSTALLATION).findOne({ _id: 'redis-epoch' })
      return fact === null ? null : toMs(fact.changedAt)
    },
    /** Processes seen since then, by name. */
    processes: async (since: Ms): Promise<readonly ProcessState[]> => {
      const seen = { seenAt: { $gte: toDate(since) } }
      const found = await db.collection(PROCESSES).find(seen).sort({ seenAt: -1 }).limit(PROCESSES_MAX).toArray()
      return found.map(PROCESSES.toRecord)
    },
  }
}

interface DueQuestion {
  readonly filter: mongoose.mongo.Document
  /** The date on which it fell due. */
  readonly field: string
  readonly hint: string
}

function depthsOf(db: Database) {
  return async (
    work: WorkDepth['work'],
    model: { readonly name: string },
    { filter, field, hint }: DueQuestion,
  ): Promise<WorkDepth> => {
    const rows = db.connection.getClient().db(db.name).collection(model.name)
    const [due, oldest] = await Promise.all([
      rows.countDocuments(filter, { hint, limit: COUNT_MAX }),
      rows.findOne(filter, { hint, sort: { [field]: 1 }, projection: { [field]: 1 } }),
    ])
    const at: unknown = oldest?.[field]
    return { work, due, oldestDueAt: at instanceof Date ? toMs(at) : null }
  }
}

/** Endpoint by endpoint, because a count of all due rows would read every row that waits for its next try. */
async function dueDeliveries(db: Database, at: Ms): Promise<WorkDepth> {
  const deliveries = db.collection(WEBHOOK_DELIVERIES)
  const endpoints = await deliveries.aggregate<{ _id: string; dueAt: Date }>(dueEndpoints(at, ENDPOINTS_MAX)).toArray()
  const due = await deliveries.countDocuments(
    { status: 'pending', endpointId: { $in: endpoints.map(({ _id }) => _id) }, dueAt: { $lte: toDate(at) } },
    { hint: DUE_INDEX, limit: COUNT_MAX },
  )
  const [oldest] = endpoints
  return { work: 'webhooks', due, oldestDueAt: oldest === undefined ? null : toMs(oldest.dueAt) }
}
