import type mongoose from 'mongoose'
import type { Database } from '#shared/db/connection/connect.ts'
import { toDate, toMs } from '#shared/db/connection/dates.ts'
import { idsCreated } from '#shared/db/connection/uuid-time.ts'
import type { AssetId } from '#shared/domain/enumerations.ts'
import type { PaymentPageQuery, SettledPayment, SettledQuery } from '#shared/ports/payment-lookups.ts'
import { paymentFromDocument } from './payment-mapping.ts'
import { PAYMENTS, type Payment, type PaymentDocument } from './payment-model.ts'

type Filter = mongoose.mongo.Filter<PaymentDocument>
type Scope = Pick<PaymentPageQuery, 'workspaceId' | 'mode' | 'createdFrom' | 'createdTo'>

/** Payments read for one page by filters that no index serves. */
const SCAN_MAX = 5_000

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
      const residual = residualFilter(query)
      const found = await payments
        .aggregate<PaymentDocument>([
          { $match: filter },
          { $sort: sort },
          { $limit: SCAN_MAX },
          { $match: residual },
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
      const filter = { ...operatorPaymentFilter(query, { after: afterId }), ...residualFilter(query) }
      return (await payments.find(filter).sort({ _id: 1 }).limit(query.limit).toArray()).map(paymentFromDocument)
    },
    /** Payments that are confirmed now, the last confirmed first; only the last page is short. Tokens that are not accepted are left out. */
    settled: async (query: SettledQuery): Promise<readonly SettledPayment[]> => {
      const found = payments
        .find(settledFilter(query), { projection: SETTLED_FIELDS })
        .sort({ confirmedAt: -1, _id: -1 })
        .limit(query.limit)
      return (await found.toArray()).map(settledFromDocument)
    },
    /** Every payment of these invoices, oldest first. */
    ofInvoices: async (invoiceIds: readonly string[]): Promise<readonly Payment[]> => {
      const found = payments.find({ invoiceId: { $in: [...invoiceIds] } })
      return (await found.sort({ _id: 1 }).toArray()).map(paymentFromDocument)
    },
  }
}

const SETTLED_FIELDS = { confirmedAt: 1, network: 1, asset: 1, matchKey: 1, amountBase: 1, counted: 1 } as const

/** Confirmed payments of a report; exported for the test that explains it. */
export function settledFilter({ workspaceId, mode, from, to, after }: Omit<SettledQuery, 'limit'>): Filter {
  const at = after === null ? null : toDate(after.confirmedAt)
  return {
    workspaceId,
    mode,
    // The index is partial: it holds exactly these.
    state: 'confirmed',
    asset: { $gt: '' as AssetId },
    confirmedAt: {
      ...(from !== null && { $gte: toDate(from) }),
      ...(at !== null ? { $lte: at } : { $lt: toDate(to ?? FAR_FUTURE) }),
    },
    ...(at !== null && after !== null && { $or: [{ confirmedAt: { $lt: at } }, { _id: { $lt: after.id } }] }),
  }
}

/** Above every time that is stored; the greatest time of a Date. */
const FAR_FUTURE = 8_640_000_000_000_000

function settledFromDocument(stored: PaymentDocument): SettledPayment {
  const { _id: id, confirmedAt, network, asset, matchKey, amountBase, counted } = stored
  if (confirmedAt === null || asset === null) throw new Error(`payment ${id} is not settled`)
  return { id, confirmedAt: toMs(confirmedAt), network, asset, matchKey, amountBase: BigInt(amountBase), counted }
}

function residualFilter({ network, counted }: Pick<PaymentPageQuery, 'network' | 'counted'>): Filter {
  return { ...(network !== null && { network }), ...(counted !== null && { counted }) }
}

/** The part of a filter that an index serves; exported for the test that explains it. */
export function operatorPaymentFilter(
  { workspaceId, mode, createdFrom, createdTo }: Scope,
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
