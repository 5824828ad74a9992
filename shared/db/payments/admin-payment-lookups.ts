import type mongoose from 'mongoose'
import type { Database } from '#shared/db/connection/connect.ts'
import { toDate } from '#shared/db/connection/dates.ts'
import { idsCreated } from '#shared/db/connection/uuid-time.ts'
import type { PaymentLookups, PaymentPageQuery } from '#shared/ports/payment-lookups.ts'
import { paymentFromDocument } from './payment-mapping.ts'
import { PAYMENTS, type PaymentDocument } from './payment-model.ts'

type Filter = mongoose.mongo.Filter<PaymentDocument>
type Scope = Pick<PaymentPageQuery, 'workspaceId' | 'mode' | 'createdFrom' | 'createdTo'>

/** Payments read for one page by filters that no index serves. */
const SCAN_MAX = 5_000

/** The dashboard's payment searches on MongoDB. */
export function createOperatorPaymentLookups(db: Database): PaymentLookups {
  const payments = db.collection(PAYMENTS)
  return {
    page: async (query) => {
      const filter = operatorPaymentFilter(query, { before: query.beforeId })
      const residual = residualFilter(query)
      const found = await payments
        .aggregate<PaymentDocument>([
          { $match: filter },
          { $sort: { _id: -1 } },
          { $limit: SCAN_MAX },
          { $match: residual },
          { $limit: query.limit + 1 },
        ])
        .toArray()
      const page = found.slice(0, query.limit).map(paymentFromDocument)
      if (found.length > query.limit) return { payments: page, next: page.at(-1)?.id ?? null }
      const [last] = await payments
        .find(filter, { projection: { _id: 1 } })
        .sort({ _id: -1 })
        .skip(SCAN_MAX - 1)
        .limit(1)
        .toArray()
      return { payments: page, next: last?._id ?? null }
    },
    pageForward: async (query, afterId) => {
      const filter = { ...operatorPaymentFilter(query, { after: afterId }), ...residualFilter(query) }
      return (await payments.find(filter).sort({ _id: 1 }).limit(query.limit).toArray()).map(paymentFromDocument)
    },
    ofInvoices: async (invoiceIds) => {
      const found = payments.find({ invoiceId: { $in: [...invoiceIds] } })
      return (await found.sort({ _id: 1 }).toArray()).map(paymentFromDocument)
    },
  }
}

function residualFilter({ network, counted }: Pick<PaymentPageQuery, 'network' | 'counted'>): Filter {
  return { ...(network !== null && { network }), ...(counted !== null && { counted }) }
}

/** The part of a filter that an index serves; exported for the test that explains it. */
export function operatorPaymentFilter(
  { workspaceId, mode, createdFrom, createdTo }: Scope,
  bounds: { readonly before?: string | null; readonly after?: string | null },
): Filter {
  // A page that begins after an id needs no other lower bound.
  const { after = null, before = null } = bounds
  const ids = {
    ...idsCreated(after === null ? createdFrom : null, createdTo, before),
    ...(after !== null && { $gt: after }),
  }
  return {
    workspaceId,
    mode,
    ...(Object.keys(ids).length > 0 && { _id: ids }),
    ...((createdFrom !== null || createdTo !== null) && {
      createdAt: {
        ...(createdFrom !== null && { $gte: toDate(createdFrom) }),
        ...(createdTo !== null && { $lt: toDate(createdTo) }),
      },
    }),
  }
}
