import type mongoose from 'mongoose'
import type { Database } from '#shared/db/connection/connect.ts'
import { toDate, toMs } from '#shared/db/connection/dates.ts'
import { invoiceFromDocument } from '#shared/db/invoices/invoice-mapping.ts'
import { INVOICES, type InvoiceDocument } from '#shared/db/invoices/invoice-model.ts'
import { paymentFromDocument } from '#shared/db/payments/payment-mapping.ts'
import { PAYMENTS, type PaymentDocument } from '#shared/db/payments/payment-model.ts'
import { REFUNDS } from '#shared/db/refunds/refund-model.ts'
import type { AssetId, Mode } from '#shared/domain/enumerations.ts'
import type { Ms } from '#shared/domain/invoice/model.ts'
import { type InvoiceRecords, withRecords } from '#shared/ports/invoices.ts'

/** A stretch of time of one workspace in one mode; `until` is exclusive. */
export interface BookSpan {
  readonly workspaceId: string
  readonly mode: Mode
  readonly since: Ms
  readonly until: Ms
}

/** Parts of time in which movements are counted. */
export type BookUnit = 'hour' | 'minute' | 'second'

const WITHOUT_OUTBOX = { outbox: 0, lastOps: 0, claims: 0 } as const
const HOUR_MS = 3_600_000

interface Counted {
  readonly _id: Date
  readonly count: number
}

/** Reads what the books of a stretch of time follow from. */
export function createBookReads(db: Database) {
  const invoices = db.collection(INVOICES)
  const payments = db.collection(PAYMENTS)
  const refunds = db.collection(REFUNDS)
  const countsOf = async (span: BookSpan, unit: BookUnit): Promise<ReadonlyMap<Ms, number>> => {
    const bounds = { $gte: toDate(span.since), $lt: toDate(span.until) }
    const part = (path: string) => ({ $group: { _id: { $dateTrunc: { date: path, unit } }, count: { $sum: 1 } } })
    const [received, sent, decided] = await Promise.all([
      payments
        .aggregate<Counted>([
          { $match: bookedFilter(span) },
          { $project: { bookedAt: 1 } },
          { $unwind: '$bookedAt' },
          { $match: { bookedAt: bounds } },
          part('$bookedAt'),
        ])
        .toArray(),
      refunds.aggregate<Counted>([{ $match: sentFilter(span) }, part('$sentAt')]).toArray(),
      invoices
        .aggregate<Counted>([
          { $match: correctedFilter(span) },
          { $project: { at: '$ledger.bookings.at' } },
          { $unwind: '$at' },
          { $unwind: '$at' },
          { $match: { at: bounds } },
          part('$at'),
        ])
        .toArray(),
    ])
    const counts = new Map<Ms, number>()
    for (const { _id, count } of [...received, ...sent, ...decided])
      counts.set(toMs(_id), (counts.get(toMs(_id)) ?? 0) + count)
    return new Map([...counts].sort(([one], [other]) => one - other))
  }
  return {
    /** The beginnings of the hours, minutes or seconds in which money moved, oldest first, and how often it moved. */
    counts: countsOf,
    /** The invoices whose money moved in the span, with all their records, also of other times; `also` names more of them. */
    records: async (span: BookSpan, also: readonly string[] = []): Promise<readonly InvoiceRecords[]> => {
      const id = { projection: { invoiceId: 1 } } as const
      const [received, sent, decided] = await Promise.all([
        payments.find(bookedFilter(span), id).toArray(),
        refunds.find(sentFilter(span), id).toArray(),
        invoices.find(correctedFilter(span), { projection: { _id: 1 } }).toArray(),
      ])
      const ids = new Set([
        ...[...received, ...sent].flatMap(({ invoiceId }) => invoiceId ?? []),
        ...[...decided.map(({ _id }) => _id), ...also],
      ])
      return await recordsOf(db, [...ids])
    },
    /** The hour in which money of the workspace was first booked; null before. Refunds and decisions come after it. */
    begunAt: async (workspaceId: string, mode: Mode): Promise<Ms | null> => {
      const options = { projection: { bookedAt: 1 }, sort: { bookedAt: 1 }, hint: 'payment_booked' } as const
      const owner = { workspaceId, mode, asset: { $gt: '' as AssetId }, 'bookedAt.0': { $exists: true } }
      const first = (await payments.findOne(owner, options))?.bookedAt.map(toMs) ?? []
      return first.length === 0 ? null : Math.floor(Math.min(...first) / HOUR_MS) * HOUR_MS
    },
  }
}

/** These invoices with all their payments and refunds, in no order. */
async function recordsOf(db: Database, ids: readonly string[]): Promise<readonly InvoiceRecords[]> {
  if (ids.length === 0) return []
  const own = { invoiceId: { $in: [...ids] } }
  const [found, payments, refunds] = await Promise.all([
    db
      .collection(INVOICES)
      .find({ _id: { $in: [...ids] } }, { projection: WITHOUT_OUTBOX })
      .toArray(),
    db.collection(PAYMENTS).find(own).toArray(),
    db.collection(REFUNDS).find(own).toArray(),
  ])
  const invoices = found.map((stored) =>
    invoiceFromDocument({ ...(stored as InvoiceDocument), outbox: [], lastOps: [] }),
  )
  return withRecords(invoices, payments.map(paymentFromDocument), refunds.map(REFUNDS.toRecord))
}

/** Payments that were confirmed, or ceased to be, in the span; exported for the test that explains it. */
export function bookedFilter({ workspaceId, mode, since, until }: BookSpan): mongoose.mongo.Filter<PaymentDocument> {
  return {
    ...{ workspaceId, mode, asset: { $gt: '' as AssetId }, 'bookedAt.0': { $exists: true } },
    bookedAt: { $elemMatch: { $gte: toDate(since), $lt: toDate(until) } },
  }
}

const sentFilter = ({ workspaceId, mode, since, until }: BookSpan) => ({
  sentAt: { $gte: toDate(since), $lt: toDate(until) },
  ...{ workspaceId, mode },
})

/** Invoices of which money was worth something else from a time in the span on; exported for the test that explains it. */
export const correctedFilter = ({ workspaceId, mode, since, until }: BookSpan) => ({
  ...{ workspaceId, mode, 'ledger.bookings.1': { $exists: true } },
  ledger: { $elemMatch: { bookings: { $elemMatch: { at: { $gte: toDate(since), $lt: toDate(until) } } } } },
})
