import type { Database } from '#shared/db/connection/connect.ts'
import { toDate, toMs } from '#shared/db/connection/dates.ts'
import { uuidLowerBound, uuidTime } from '#shared/db/connection/uuid-time.ts'
import { WEBHOOK_DELIVERIES } from '#shared/db/deliveries/delivery-model.ts'
import { WEBHOOK_ENDPOINTS } from '#shared/db/endpoints/endpoint-model.ts'
import { EVENTS } from '#shared/db/events/event-model.ts'
import { INVOICES } from '#shared/db/invoices/invoice-model.ts'
import { PAYMENTS } from '#shared/db/payments/payment-model.ts'
import { REFUNDS } from '#shared/db/refunds/refund-model.ts'
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

interface InvoiceGroup {
  readonly _id: { readonly workspaceId: string; readonly mode: Mode; readonly movedIn: readonly (Date | null)[] }
  /** Of ids, in whose order invoices are created. */
  readonly least: string
  readonly most: string
  /** Of changes. */
  readonly first?: Date
  readonly last?: Date
}

const hourOf = (date: unknown) => ({ $dateTrunc: { date, unit: 'hour' } })

/** The payments of a changed invoice, with nothing but their times. */
const WITH_PAYMENTS = [
  {
    $lookup: {
      ...{ from: PAYMENTS.name, localField: '_id', foreignField: 'invoiceId', as: 'payments' },
      pipeline: [{ $match: { 'bookedAt.0': { $exists: true } } }, { $project: { _id: 0, bookedAt: 1 } }],
    },
  },
]

/** One list of a list of lists. */
const flat = (input: string) => ({
  $reduce: { input: { $ifNull: [input, []] }, initialValue: [], in: { $concatArrays: ['$$value', '$$this'] } },
})

/** The hours in which an invoice was paid, in which its payments were booked, and in which their worth changed. */
const MOVED_IN = {
  $map: {
    input: {
      $concatArrays: [['$paidAt'], flat('$ledger.bookings.at'), flat('$payments.bookedAt')],
    },
    in: hourOf('$$this'),
  },
}

/** Characters of an id that invoices of the same 66 seconds share: they lie in two hours at most, those of the least and of the greatest id. */
const ID_PREFIX = 8

/**
 * The hours of invoices that were created or changed in the stretch, or of which a refund was sent: that of the creation, of being paid, and of every
 * movement of their money. A create writes no index on `updatedAt`; its id holds its time.
 */
export async function touchedByInvoices(db: Database, { from, until }: Stretch): Promise<readonly TouchedSlot[]> {
  const stamped = { $gte: toDate(from), $lt: toDate(until) }
  const near = { $substrBytes: ['$_id', 0, ID_PREFIX] }
  const groupBy = (movedIn: unknown) => ({
    _id: { workspaceId: '$workspaceId', mode: '$mode', near, movedIn },
    ...{ least: { $min: '$_id' }, most: { $max: '$_id' } },
  })
  const changed = [
    { $match: { version: { $gt: 1 }, updatedAt: stamped } },
    ...WITH_PAYMENTS,
    { $group: { ...groupBy(MOVED_IN), first: { $min: '$updatedAt' }, last: { $max: '$updatedAt' } } },
  ]
  const refunded = [
    { $match: { sentAt: stamped } },
    { $project: { _id: '$invoiceId', workspaceId: 1, mode: 1, sentAt: 1 } },
    { $group: { ...groupBy([hourOf('$sentAt')]), first: { $min: '$sentAt' }, last: { $max: '$sentAt' } } },
  ]
  const groups = db
    .collection(INVOICES)
    .aggregate<InvoiceGroup>([
      { $match: { _id: { $gte: uuidLowerBound(from), $lt: uuidLowerBound(until) } } },
      { $group: groupBy([hourOf('$paidAt')]) },
      { $unionWith: { coll: INVOICES.name, pipeline: changed } },
      { $unionWith: { coll: REFUNDS.name, pipeline: refunded } },
    ])
  const touched = new Map<string, TouchedSlot>()
  for await (const { _id: owner, least, most, ...stamps } of groups) {
    const first = stamps.first === undefined ? uuidTime(least) : toMs(stamps.first)
    const last = stamps.last === undefined ? uuidTime(most) : toMs(stamps.last)
    const times = [uuidTime(least), uuidTime(most), ...owner.movedIn.flatMap((at) => (at === null ? [] : toMs(at)))]
    for (const at of new Set(times.map((time) => Math.floor(time / HOUR_MS) * HOUR_MS))) {
      const slot = { of: 'invoices', ownerId: owner.workspaceId, mode: owner.mode, at } as const
      const known = touched.get(slotId(slot)) ?? { first, last }
      touched.set(slotId(slot), { slot, first: Math.min(known.first, first), last: Math.max(known.last, last) })
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
