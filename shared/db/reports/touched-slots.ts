import type { Database } from '#shared/db/connection/connect.ts'
import { toDate, toMs } from '#shared/db/connection/dates.ts'
import { uuidLowerBound, uuidTime } from '#shared/db/connection/uuid-time.ts'
import { WEBHOOK_DELIVERIES } from '#shared/db/deliveries/delivery-model.ts'
import { WEBHOOK_ENDPOINTS } from '#shared/db/endpoints/endpoint-model.ts'
import { EVENTS } from '#shared/db/events/event-model.ts'
import { INVOICES, type InvoiceDocument } from '#shared/db/invoices/invoice-model.ts'
import type { Mode } from '#shared/domain/enumerations.ts'
import type { Ms } from '#shared/domain/invoice/model.ts'
import { HOUR_MS, type RollupSlot, slotId } from './rollup-models.ts'

/** A slot in which something changed, and the first and last time that those changes are stamped with. */
export interface TouchedSlot {
  readonly slot: RollupSlot
  readonly first: Ms
  readonly last: Ms
}

/** From `from` until before `until`, by the times that every write stamps. */
export interface Stretch {
  readonly from: Ms
  readonly until: Ms
}

type Seen = Pick<InvoiceDocument, '_id' | 'workspaceId' | 'mode' | 'paidAt' | 'updatedAt' | 'version'>
const PARTS = { workspaceId: 1, mode: 1, paidAt: 1, updatedAt: 1, version: 1 } as const

/**
 * The hours of invoices that were created or changed in the stretch: that of the creation and, once they are paid, that of the
 * payment. A create writes no index on `updatedAt`; its id holds its time.
 */
export async function touchedByInvoices(db: Database, { from, until }: Stretch): Promise<readonly TouchedSlot[]> {
  const created = { _id: { $gte: uuidLowerBound(from), $lt: uuidLowerBound(until) } }
  const changed = { version: { $gt: 1 }, updatedAt: { $gte: toDate(from), $lt: toDate(until) } }
  const rows = db
    .collection(INVOICES)
    .aggregate<Seen>([
      { $match: created },
      { $project: PARTS },
      { $unionWith: { coll: INVOICES.name, pipeline: [{ $match: changed }, { $project: PARTS }] } },
    ])
  const touched = new Map<string, TouchedSlot>()
  for await (const { _id, workspaceId, mode, paidAt, updatedAt, version } of rows) {
    const stamp = version > 1 ? toMs(updatedAt) : uuidTime(_id)
    for (const time of paidAt === null ? [uuidTime(_id)] : [uuidTime(_id), toMs(paidAt)]) {
      const slot = { of: 'invoices', ownerId: workspaceId, mode, at: Math.floor(time / HOUR_MS) * HOUR_MS } as const
      const { first, last } = touched.get(slotId(slot)) ?? { first: stamp, last: stamp }
      touched.set(slotId(slot), { slot, first: Math.min(first, stamp), last: Math.max(last, stamp) })
    }
  }
  return [...touched.values()]
}

interface DeliveryGroup {
  readonly _id: { readonly endpointId: string; readonly mode: Mode; readonly at: Date }
  readonly first: Date
  readonly last: Date
}

/**
 * The quarters of deliveries that were made, tried for the first time or ended in the stretch. A delivery has the time of its event,
 * whenever it is made; a quarter of an endpoint that did not receive the event counts nothing.
 */
export async function touchedByDeliveries(db: Database, { from, until }: Stretch): Promise<readonly TouchedSlot[]> {
  const stamped = { $gte: toDate(from), $lt: toDate(until) }
  const by = (field: 'attemptsFrom' | 'finishedAt') => [
    { $match: { [field]: stamped } },
    { $project: { endpointId: 1, mode: 1, createdAt: 1, first: `$${field}`, last: `$${field}` } },
  ]
  const at = { $dateTrunc: { date: '$createdAt', unit: 'minute', binSize: 15 } }
  const span = { first: { $min: '$first' }, last: { $max: '$last' } }
  const announced = [
    { $match: { createdAt: stamped } },
    { $project: { workspaceId: 1, mode: 1, createdAt: 1, first: '$createdAt', last: '$createdAt' } },
    { $group: { _id: { workspaceId: '$workspaceId', mode: '$mode', at }, ...span } },
    {
      $lookup: {
        ...{ from: WEBHOOK_ENDPOINTS.name, localField: '_id.workspaceId', foreignField: 'workspaceId' },
        ...{ pipeline: [{ $project: { _id: 1 } }], as: 'endpoint' },
      },
    },
    { $unwind: '$endpoint' },
    { $project: { endpointId: '$endpoint._id', mode: '$_id.mode', createdAt: '$_id.at', first: 1, last: 1 } },
  ]
  const groups = await db
    .collection(WEBHOOK_DELIVERIES)
    .aggregate<DeliveryGroup>([
      ...by('attemptsFrom'),
      { $unionWith: { coll: WEBHOOK_DELIVERIES.name, pipeline: by('finishedAt') } },
      { $unionWith: { coll: EVENTS.name, pipeline: announced } },
      { $group: { _id: { endpointId: '$endpointId', mode: '$mode', at }, ...span } },
    ])
    .toArray()
  return groups.map(({ _id, first, last }) => ({
    slot: { of: 'deliveries', ownerId: _id.endpointId, mode: _id.mode, at: toMs(_id.at) },
    ...{ first: toMs(first), last: toMs(last) },
  }))
}
