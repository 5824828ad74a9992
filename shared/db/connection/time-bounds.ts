import type { Ms } from '#shared/domain/invoice/model.ts'
import { toDate } from './dates.ts'

/** The bounds of a period as conditions on a stored time; `to` is exclusive, null is without bound. */
export function boundsOf({ from, to }: { readonly from: Ms | null; readonly to: Ms | null }) {
  return { ...(from !== null && { $gte: toDate(from) }), ...(to !== null ? { $lt: toDate(to) } : { $lt: FAR_FUTURE }) }
}

/** The greatest time of a date (ECMA-262). */
const FAR_FUTURE = new Date(8_640_000_000_000_000)
