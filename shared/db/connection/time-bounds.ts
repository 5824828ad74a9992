import type { Ms } from '#shared/domain/invoice/model.ts'
import { toDate } from './dates.ts'
import { idsCreated } from './uuid-time.ts'

/** The bounds of a period as conditions on a stored time; `to` is exclusive, null is without bound. */
export function boundsOf({ from, to }: { readonly from: Ms | null; readonly to: Ms | null }) {
  return { ...(from !== null && { $gte: toDate(from) }), ...(to !== null ? { $lt: toDate(to) } : { $lt: FAR_FUTURE }) }
}

/** Conditions on the id and the time of creation of documents created in a period, with an id before and after the given ones; no condition where all are open. */
export function createdWithin(
  period: { readonly from: Ms | null; readonly to: Ms | null },
  { before = null, after = null }: { readonly before?: string | null; readonly after?: string | null },
) {
  const { from, to } = period
  const ids = idsCreated(from, to, before, after)
  return { ...(ids !== null && { _id: ids }), ...((from !== null || to !== null) && { createdAt: boundsOf(period) }) }
}

/** The greatest time of a date (ECMA-262). */
const FAR_FUTURE = new Date(8_640_000_000_000_000)
