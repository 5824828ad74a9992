import type mongoose from 'mongoose'
import { z } from 'zod'
import type { CollectionModel } from '#shared/db/connection/collection-model.ts'
import type { Database } from '#shared/db/connection/connect.ts'
import { toDate, toMs } from '#shared/db/connection/dates.ts'
import { uuidLowerBound, uuidTime } from '#shared/db/connection/uuid-time.ts'
import { WEBHOOK_DELIVERIES } from '#shared/db/deliveries/delivery-model.ts'
import { WEBHOOK_ENDPOINTS } from '#shared/db/endpoints/endpoint-model.ts'
import { EVENTS } from '#shared/db/events/event-model.ts'
import { jsonFact } from '#shared/db/installation/facts.ts'
import { INVOICES } from '#shared/db/invoices/invoice-model.ts'
import { PAYMENTS } from '#shared/db/payments/payment-model.ts'
import { REFUNDS } from '#shared/db/refunds/refund-model.ts'
import type { Mode } from '#shared/domain/enumerations.ts'
import type { Ms } from '#shared/domain/invoice/model.ts'
import { countSlot } from './count-slot.ts'
import {
  DELIVERY_ROLLUPS,
  HOUR_MS,
  INVOICE_ROLLUPS,
  INVOICE_ROLLUPS_KEPT_MS,
  type RollupSlot,
  slotId,
} from './rollup-models.ts'

/** Name of the fact that holds the place up to which figures are right. A restore leaves it out: figures are counted again. */
export const ROLLUPS_FACT = 'rollups'

/** What is stamped with a time has arrived this much later; what takes longer is counted at night. */
const SETTLED_AFTER_MS = 120_000
/** The time between two counts of one slot: at least this long, */
const PAUSE_MIN_MS = 5_000
/** and longer the more documents were counted, so that no slot makes the store read more than some 300 a second. */
const PAUSE_PER_DOCUMENT_MS = 3
const DAY_MS = 24 * HOUR_MS
const NIGHTLY_MS = 3 * DAY_MS
/** The front page shows a day of deliveries; a slot that has left that day is not counted any more. */
const DELIVERIES_KEPT_MS = 26 * HOUR_MS
/** A place that moved without a count is written this often. */
const SAVE_EVERY_MS = 30_000
const AT_ONCE = 4

/** Bounds of one round, both optional. */
interface RollupControl {
  /** True ends the round after the current day; the next one goes on from there. */
  readonly stop?: () => boolean
  /** Gets a line now and then while a round takes long. */
  readonly report?: (line: string) => void
}

/** What is kept between rounds. */
interface Place {
  /** All changes that are stamped before this time are counted. */
  readonly through: Ms
  /** All changes that had arrived by this time are counted; null before the first complete count. */
  readonly asOf: Ms | null
  /** The day, of UTC and since 1970, in which the last three days were counted again. */
  readonly night: number
}

/** A count of a slot that this process stored. `last` is the last stamp that was found before it. */
interface LastCount {
  readonly at: Ms
  readonly last: Ms
  readonly documents: number
}

/**
 * Figures of the front page, counted from the invoices and deliveries and stored per slot. A stored figure is always a full count of
 * its slot, never a sum of changes. A round finds the slots of what was stamped since the place, day by day, counts them and then moves the
 * place; a job runs the rounds under a lease. What a process remembers only spares counts.
 *
 * | event | result |
 * |---|---|
 * | dies before a count is stored, or before the place is | the next round finds the same slots from the same place and counts them again |
 * | dies in the first count, or at night | the next round goes on with the day that was not finished |
 * | a slot changes while it is counted | its stamp is not older than two minutes before the count: the place stays before it, and it is counted again |
 * | a write arrives up to two minutes after its stamp | each slot is counted once more when two minutes have passed since its last stamp |
 * | a write arrives later than that | wrong until the slot changes again, at the latest until the night |
 * | a slot changes during its pause | the place stays before that change until the pause is over |
 * | two processes count at once, or one goes on after its lease | the count that began later stays |
 * | an older place is written over a newer one | more is counted again |
 * | the clock is set back | the place goes back with it; counts that were made ahead of the clock are replaced |
 */
export function createRollups(db: Database) {
  const counted = new Map<string, LastCount>()
  let savedAt = Number.NEGATIVE_INFINITY
  return {
    /** Counts again every slot in which something changed since the last round. Returns how many it counted. */
    catchUp: async (at: Ms, { stop = () => false, report = () => undefined }: RollupControl = {}): Promise<number> => {
      for (const [id, last] of counted) if (last.at > at) counted.delete(id)
      let place = await startingPlace(db, at)
      if (place.asOf === null) counted.clear()
      let slots = 0
      while (!stop()) {
        const until = place.through + DAY_MS
        const isNewest = until >= at
        // Only in the newest day may a slot be in its pause.
        if (!isNewest) counted.clear()
        const touched = await touchedSlots(db, { from: place.through, until }, at)
        const due = touched.filter((one) => isDue(one, counted.get(slotId(one.slot)), at))
        for (let next = 0; next < due.length; next += AT_ONCE) {
          await countAll(db, counted, due.slice(next, next + AT_ONCE), at)
        }
        slots += due.length
        place = placeAfter(place, { at, until, touched, counted })
        if (due.length > 0 || !isNewest || Math.abs(at - savedAt) >= SAVE_EVERY_MS) {
          await PLACE.write(db, place)
          savedAt = at
        }
        if (isNewest) {
          forget(counted, touched, at)
          break
        }
        report(`figures: counted ${slots} slots, of changes until ${new Date(place.through).toISOString()}`)
      }
      return slots
    },
  }
}

/** By which time all changes that are stored were counted; null while nothing was ever counted through. */
export async function figuresAsOf(db: Database): Promise<Ms | null> {
  return (await PLACE.read(db))?.asOf ?? null
}

const PLACE = jsonFact(ROLLUPS_FACT, z.custom<Place>())

/** Where a round begins: the stored place, three days before it in the first round of a night, at first the oldest invoice that is shown. */
async function startingPlace(db: Database, at: Ms): Promise<Place> {
  const night = Math.floor(at / DAY_MS)
  const stored = await PLACE.read(db)
  if (stored === null) {
    const oldest = await db
      .collection(INVOICES)
      .find({}, { projection: { _id: 1 } })
      .sort({ _id: 1 })
      .limit(1)
      .next()
    const invoices = Math.max(at - INVOICE_ROLLUPS_KEPT_MS, oldest === null ? at : uuidTime(oldest._id))
    return { through: Math.min(invoices, at - DELIVERIES_KEPT_MS), asOf: null, night }
  }
  const through = Math.min(stored.through, at - SETTLED_AFTER_MS)
  return stored.night === night
    ? { ...stored, through }
    : { ...stored, through: Math.min(through, at - NIGHTLY_MS), night }
}

async function touchedSlots(db: Database, { from, until }: Stretch, at: Ms): Promise<readonly TouchedSlot[]> {
  const kept = { invoices: at - INVOICE_ROLLUPS_KEPT_MS, deliveries: at - DELIVERIES_KEPT_MS }
  const found = await Promise.all([
    touchedByInvoices(db, { from, until }),
    until <= kept.deliveries ? [] : touchedByDeliveries(db, { from: Math.max(from, kept.deliveries), until }),
  ])
  return found.flat().filter(({ slot }) => slot.at > kept[slot.of])
}

const pauseAfter = ({ documents }: LastCount): Ms => Math.max(PAUSE_MIN_MS, documents * PAUSE_PER_DOCUMENT_MS)

function isDue({ last }: TouchedSlot, before: LastCount | undefined, at: Ms): boolean {
  if (before === undefined) return true
  if (last <= before.at - SETTLED_AFTER_MS || at - before.at < pauseAfter(before)) return false
  return last > before.last || at >= last + SETTLED_AFTER_MS
}

/** Counts slots, stores the figures, and remembers both. A count that began later, and not ahead of the store's clock, stays. */
async function countAll(
  db: Database,
  counted: Map<string, LastCount>,
  touched: readonly TouchedSlot[],
  at: Ms,
): Promise<void> {
  const counts = await Promise.all(touched.map(async (one) => ({ ...one, ...(await countSlot(db, one.slot)) })))
  const isNewer = { $and: [{ $gt: ['$countedAt', toDate(at)] }, { $lte: ['$countedAt', '$$NOW'] }] }
  for (const kind of ['invoices', 'deliveries'] as const) {
    const writes = counts
      .filter(({ slot }) => slot.of === kind)
      .map(({ slot, figures }) => {
        const { ownerId, mode, at: begun } = slot
        const row = { _id: slotId(slot), [OWNERS[kind]]: ownerId, mode, at: toDate(begun), countedAt: toDate(at) }
        const update = [{ $replaceWith: { $cond: [isNewer, '$$ROOT', { $literal: { ...row, ...figures } }] } }]
        return { updateOne: { filter: { _id: row._id }, update, upsert: true } }
      })
    if (writes.length > 0) await db.collection(ROWS[kind]).bulkWrite(writes, { ordered: false })
  }
  for (const { slot, last, documents } of counts) counted.set(slotId(slot), { at, last, documents })
}

type AnyRow = CollectionModel<mongoose.mongo.Document & { _id: string }>
const ROWS = { invoices: INVOICE_ROLLUPS as AnyRow, deliveries: DELIVERY_ROLLUPS as AnyRow } as const
const OWNERS = { invoices: 'workspaceId', deliveries: 'endpointId' } as const

interface Round {
  readonly at: Ms
  readonly until: Ms
  readonly touched: readonly TouchedSlot[]
  readonly counted: ReadonlyMap<string, LastCount>
}

/**
 * The place stays before every change that the last count of its slot may lack: what had not arrived, or came during the pause. The
 * figures are as old as the last count of a slot that waits.
 */
function placeAfter(place: Place, { at, until, touched, counted }: Round): Place {
  let through = Math.min(until, at - SETTLED_AFTER_MS)
  let asOf = at
  for (const { slot, first, last } of touched) {
    const count = counted.get(slotId(slot))
    if (count === undefined) throw new Error(`slot ${slotId(slot)} was never counted`)
    const settled = count.at - SETTLED_AFTER_MS
    if (last > settled) through = Math.min(through, Math.max(first, settled))
    if (last > count.last) asOf = Math.min(asOf, count.at)
  }
  return { ...place, through, asOf: until < at ? place.asOf : asOf }
}

function forget(counted: Map<string, LastCount>, touched: readonly TouchedSlot[], at: Ms): void {
  const ids = new Set(touched.map(({ slot }) => slotId(slot)))
  for (const [id, last] of counted) if (!ids.has(id) && at - last.at >= pauseAfter(last)) counted.delete(id)
}

/** A slot in which something changed, and the first and last time that those changes are stamped with. */
interface TouchedSlot {
  readonly slot: RollupSlot
  readonly first: Ms
  readonly last: Ms
}

/** From `from` until before `until`, by the times that every write stamps. */
interface Stretch {
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
async function touchedByInvoices(db: Database, { from, until }: Stretch): Promise<readonly TouchedSlot[]> {
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
async function touchedByDeliveries(db: Database, { from, until }: Stretch): Promise<readonly TouchedSlot[]> {
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
