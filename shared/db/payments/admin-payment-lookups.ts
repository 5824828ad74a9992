import type mongoose from 'mongoose'
import type { Database } from '#shared/db/connection/connect.ts'
import { ofInvoicesPaid } from '#shared/db/connection/moved-stages.ts'
import { scannedPage } from '#shared/db/connection/scanned-page.ts'
import { boundsOf, createdWithin } from '#shared/db/connection/time-bounds.ts'
import type { Mode } from '#shared/domain/enumerations.ts'
import type { PaymentPageQuery, PaymentSearch } from '#shared/ports/payment-lookups.ts'
import { paymentFromDocument } from './payment-mapping.ts'
import { PAYMENTS, type Payment, type PaymentDocument } from './payment-model.ts'

type Filter = mongoose.mongo.Filter<PaymentDocument>
type Scope = Pick<PaymentPageQuery, 'workspaceId' | 'mode' | 'createdFrom' | 'createdTo' | 'moved'>

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
      const direction = isOldestFirst ? 1 : -1
      const sort = { _id: direction } as const
      const { workspaceId, mode, search = null, beforeId: last } = query
      const step = search === null ? null : await nextFound(payments, search, { workspaceId, mode, last, direction })
      const matched = step === null ? filter : amongIds(filter, step.ids)
      const read = { filter: matched, hint: null, sort, residual: residualStages(query), limit: query.limit }
      const { page, next } = await scannedPage(payments, read)
      return { payments: page.map(paymentFromDocument), next: next ?? step?.until ?? null }
    },
    /** The newest payments that a search finds, a few. */
    found: async ({
      workspaceId,
      mode,
      search,
    }: Pick<PaymentPageQuery, 'workspaceId' | 'mode'> & { readonly search: PaymentSearch }): Promise<
      readonly Payment[]
    > => {
      const { ids } = await nextFound(payments, search, { workspaceId, mode, last: null, direction: -1 })
      const stored = await payments.find({ _id: { $in: [...ids] }, workspaceId, mode }).toArray()
      return stored.map(paymentFromDocument)
    },
    /** The payments of the same query oldest first, starting after `afterId`: for reading them all. Only the last page is short. */
    pageForward: async (
      query: Omit<PaymentPageQuery, 'beforeId'>,
      afterId: string | null,
    ): Promise<readonly Payment[]> => {
      const { workspaceId, mode, search = null } = query
      const filter = operatorPaymentFilter(query, { after: afterId })
      const read = async (matched: Filter) => {
        const stages = [{ $match: matched }, { $sort: { _id: 1 } }, ...residualStages(query), { $limit: query.limit }]
        return (await payments.aggregate<PaymentDocument>(stages).toArray()).map(paymentFromDocument)
      }
      if (search === null) return await read(filter)
      const rows: Payment[] = []
      for (let last = afterId; ; ) {
        const { ids, until } = await nextFound(payments, search, { workspaceId, mode, last, direction: 1 })
        rows.push(...(await read(amongIds(filter, ids))))
        if (until === null || rows.length >= query.limit) return rows.slice(0, query.limit)
        last = until
      }
    },
    /** Every payment of these invoices, oldest first. */
    ofInvoices: async (invoiceIds: readonly string[]): Promise<readonly Payment[]> => {
      const found = payments.find({ invoiceId: { $in: [...invoiceIds] } })
      return (await found.sort({ _id: 1 }).toArray()).map(paymentFromDocument)
    },
  }
}

/** An id range of the page stays. */
const amongIds = (filter: Filter, ids: readonly string[]): Filter => ({ $and: [{ _id: { $in: [...ids] } }, filter] })

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
  return { workspaceId, mode, ...createdWithin({ from: createdFrom, to: createdTo }, bounds) }
}

/** Payments that one step of a search finds by their invoices, and by their amount. */
const STEP_MAX = 24

/** Where a search is, and its direction by id. */
interface SearchPlace {
  readonly workspaceId: string
  readonly mode: Mode
  /** The last id before this step; null = from the start. */
  readonly last: string | null
  readonly direction: 1 | -1
}

/**
 * The next ids that a search finds in the order of `direction`, and the last id that this step covers; null when it covers all of them. They are
 * read from indexes without their documents, a bounded number however many payments an invoice or an amount has.
 */
async function nextFound(
  payments: mongoose.mongo.Collection<PaymentDocument>,
  { ids, invoiceIds, amounts }: PaymentSearch,
  { workspaceId, mode, last, direction }: SearchPlace,
): Promise<{ readonly ids: readonly string[]; readonly until: string | null }> {
  const isBehind = (one: string, other: string) => (direction === 1 ? one > other : one < other)
  const behind = last === null ? {} : { _id: direction === 1 ? { $gt: last } : { $lt: last } }
  const read = async (filters: readonly mongoose.mongo.Filter<PaymentDocument>[], hint: string) =>
    filters.length === 0
      ? []
      : (
          await payments
            .find({ $or: filters.map((filter) => ({ ...filter, ...behind })) }, { projection: { _id: 1 }, hint })
            .sort({ _id: direction })
            .limit(STEP_MAX)
            .toArray()
        ).map(({ _id }) => _id)
  const ofAmount = amounts.map(({ asset, amountBase }) => ({ asset, amountBase: amountBase.toString() }))
  const reads = await Promise.all([
    read(invoiceIds.length === 0 ? [] : [{ invoiceId: { $in: [...invoiceIds] } }], 'payment_invoice'),
    read(
      ofAmount.map((one) => ({ workspaceId, mode, ...one })),
      'payment_amount',
    ),
  ])
  const [until = null, ...others] = reads.flatMap((found) => (found.length < STEP_MAX ? [] : found.slice(-1)))
  const nearest = until === null ? null : others.reduce((one, other) => (isBehind(one, other) ? other : one), until)
  const named = ids.filter((id) => last === null || isBehind(id, last))
  const covered = [...named, ...reads.flat()].filter((id) => nearest === null || !isBehind(id, nearest))
  return { ids: [...new Set(covered)], until: nearest }
}
