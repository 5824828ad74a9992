import type { Database } from '#shared/db/connection/connect.ts'
import { toDate, toMs } from '#shared/db/connection/dates.ts'
import { WEBHOOK_DELIVERIES } from '#shared/db/deliveries/delivery-model.ts'
import { DUE_INDEX, dueEndpoints } from '#shared/db/deliveries/delivery-scopes.ts'
import { INSTALLATION } from '#shared/db/installation/installation-model.ts'
import { LEASES } from '#shared/db/installation/lease-model.ts'
import { PROCESSES, type ProcessState } from '#shared/db/installation/process-model.ts'
import type { Ms } from '#shared/domain/invoice/model.ts'
import { COUNT_MAX } from '#shared/ports/delivery-search.ts'
import type { QueueName } from '#shared/ports/runtime.ts'
import { WAITING_WORK, type WaitingWork } from './backlog-repository.ts'

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

/** Figures for instance admins, on MongoDB. Every figure is read from the index of its sweep. */
export function createInstanceReads(db: Database) {
  return {
    depths: async (at: Ms): Promise<readonly WorkDepth[]> => {
      const depth = async (work: WorkDepth['work'], name: keyof typeof WAITING_WORK): Promise<WorkDepth> => {
        const { of, filter, field, hint }: WaitingWork = WAITING_WORK[name]
        const rows = db.collection(of)
        const overdue = { ...filter, [field]: { $lte: toDate(at) } }
        const [due, oldest] = await Promise.all([
          rows.countDocuments(overdue, { hint, limit: COUNT_MAX }),
          rows.findOne(overdue, { hint, sort: { [field]: 1 }, projection: { [field]: 1 } }),
        ])
        return { work, due, oldestDueAt: oldest === null ? null : toMs(oldest[field]) }
      }
      return await Promise.all([
        depth('invoice-transitions', 'deadlines'),
        depth('payments', 'payments'),
        depth('outbox', 'outbox'),
        dueDeliveries(db, at),
        depth('mail', 'mails'),
        depth('recoveries', 'recoveries'),
        depth('audit-chain', 'audits'),
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
