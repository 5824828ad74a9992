import type mongoose from 'mongoose'
import type { Mode } from '#shared/domain/enumerations.ts'
import type { PaymentSearch } from '#shared/ports/payment-lookups.ts'
import type { PaymentDocument } from './payment-model.ts'

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
export async function nextFound(
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
