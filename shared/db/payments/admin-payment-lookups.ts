import type mongoose from 'mongoose'
import type { Database } from '#shared/db/connection/connect.ts'
import { toDate } from '#shared/db/connection/dates.ts'
import { ofInvoicesPaid } from '#shared/db/connection/moved-stages.ts'
import { boundsOf } from '#shared/db/connection/time-bounds.ts'
import { idsCreated } from '#shared/db/connection/uuid-time.ts'
import type { PaymentPageQuery } from '#shared/ports/payment-lookups.ts'
import { paymentFromDocument } from './payment-mapping.ts'
import { PAYMENTS, type Payment, type PaymentDocument } from './payment-model.ts'

type Filter = mongoose.mongo.Filter<PaymentDocument>
type Scope = Pick<PaymentPageQuery, 'workspaceId' | 'mode' | 'createdFrom' | 'createdTo' | 'moved'>

/** Payments read for one page by filters that no index serves. */
const SCAN_MAX = 5_000
const LIVE: PaymentDocument['state'][] = ['detected', 'confirmed']

/** The dashboard's payment searches on MongoDB. */
export function createOperatorPaymentLookups(db: Database) {
  const payments = db.collection(PAYMENTS)
  return {
    /** At most `limit` payments and where to continue, null at the end; as with invoices a page may be short before the end. */
    page: async (
      query: PaymentPageQuery,
    ): Promise<{ readonly payments: readonly Payment[]; readonly next: string | null }> => {
      const isOldestFirst = query.order === 'oldest'
      const filter = operatorPaymentFilter(query, { [isOldestFirst ? 'after' : 'before']: query.beforeId })
      const sort = { _id: isOldestFirst ? 1 : -1 } as const
      const found = await payments
        .aggregate<PaymentDocument>([
          { $match: filter },
          { $sort: sort },
          { $limit: SCAN_MAX },
          ...residualStages(query),
          { $limit: query.limit + 1 },
        ])
        .toArray()
      const page = found.slice(0, query.limit).map(paymentFromDocument)
      if (found.length > query.limit) return { payments: page, next: page.at(-1)?.id ?? null }
      const [last] = await payments
        .find(filter, { projection: { _id: 1 } })
        .sort(sort)
        .skip(SCAN_MAX - 1)
        .limit(1)
        .toArray()
      return { payments: page, next: last?._id ?? null }
    },
    /** The payments of the same query oldest first, starting after `afterId`: for reading them all. Only the last page is short. */
    pageForward: async (
      query: Omit<PaymentPageQuery, 'beforeId'>,
      afterId: string | null,
    ): Promise<readonly Payment[]> => {
      const stages = [
        { $match: operatorPaymentFilter(query, { after: afterId }) },
        { $sort: { _id: 1 } },
        ...residualStages(query),
        { $limit: query.limit },
      ]
      return (await payments.aggregate<PaymentDocument>(stages).toArray()).map(paymentFromDocument)
    },
    /** Every payment of these invoices, oldest first. */
    ofInvoices: async (invoiceIds: readonly string[]): Promise<readonly Payment[]> => {
      const found = payments.find({ invoiceId: { $in: [...invoiceIds] } })
      return (await found.sort({ _id: 1 }).toArray()).map(paymentFromDocument)
    },
  }
}

/** The filters that no index serves. Money that is gone counts for nothing, whatever was decided about it. */
function residualStages({ network, counted, moved }: Pick<PaymentPageQuery, 'network' | 'counted' | 'moved'>) {
  const filter: Filter = {
    ...(network !== null && { network }),
    ...(counted === true && { counted, state: { $in: LIVE } }),
    ...(counted === false && { $or: [{ counted }, { state: { $nin: LIVE } }] }),
    ...(moved?.by === 'received' && { firstSeenAt: boundsOf(moved) }),
    ...(moved?.by === 'confirmed' && { bookedAt: { $elemMatch: boundsOf(moved) } }),
  }
  const stages: mongoose.mongo.Document[] = Object.keys(filter).length === 0 ? [] : [{ $match: filter }]
  return moved?.by === 'paid' ? [...stages, ...ofInvoicesPaid(boundsOf(moved))] : stages
}

/** The part of a filter that an index serves; exported for the test that explains it. */
export function operatorPaymentFilter(
  { workspaceId, mode, createdFrom, createdTo }: Omit<Scope, 'moved'>,
  bounds: { readonly before?: string | null; readonly after?: string | null },
): Filter {
  const { after = null, before = null } = bounds
  const ids = idsCreated(createdFrom, createdTo, before, after)
  return {
    workspaceId,
    mode,
    ...(ids !== null && { _id: ids }),
    ...((createdFrom !== null || createdTo !== null) && {
      createdAt: {
        ...(createdFrom !== null && { $gte: toDate(createdFrom) }),
        ...(createdTo !== null && { $lt: toDate(createdTo) }),
      },
    }),
  }
}
