import { z } from 'zod'
import { trimmedText } from '#shared/contracts/bounded-text.ts'
import { ASSET_IDS, INVOICE_STATUSES, NETWORK_IDS } from '#shared/domain/enumerations.ts'
import { LIST_TIMES } from '#shared/ports/list-order.ts'
import { SOURCES } from './money-wire.ts'

/** A time in Unix milliseconds that a date can hold (ECMA-262). */
export const timeInput = z.int().min(0).max(8.64e15)

/** Bounds of a time in Unix milliseconds; null = without bound. */
export const periodFilters = {
  /** Inclusive. */
  from: timeInput.nullable().default(null),
  /** Exclusive. */
  to: timeInput.nullable().default(null),
}

/** Which time the bounds are of. */
const timedFilters = { ...periodFilters, by: z.enum(LIST_TIMES).default('created') }

/** The bounds as a list takes them: of creation by an index, of another time row by row. Without a bound nothing is left out, whichever time was chosen. */
export function periodOf({ by, from, to }: z.infer<z.ZodObject<typeof timedFilters>>) {
  const isUnbounded = from === null && to === null
  return by === 'created' || isUnbounded
    ? { createdFrom: from, createdTo: to }
    : { createdFrom: null, createdTo: null, moved: { by, from, to } }
}

/** Filters of a list of invoices. The list and its export use the same definition. */
export const invoiceFilters = {
  ...timedFilters,
  status: z.enum(INVOICE_STATUSES).nullable().default(null),
  /** A number, an order's reference, a customer's name or e-mail address, an amount, a paid address, a transaction, an id, or an explorer's page of one. */
  q: trimmedText(300).default(''),
  asset: z.enum(ASSET_IDS).nullable().default(null),
  source: z.enum(SOURCES).nullable().default(null),
  flag: z.enum(['late', 'short']).nullable().default(null),
}

/** Filters of a list of payments. The list and its export use the same definition. */
export const paymentFilters = {
  ...timedFilters,
  /** What finds an invoice finds its payments; also an amount of coins, and the id of a payment. */
  q: trimmedText(300).default(''),
  network: z.enum(NETWORK_IDS).nullable().default(null),
  counted: z.boolean().nullable().default(null),
}
