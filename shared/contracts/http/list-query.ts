import { z } from 'zod'
import { INVOICE_STATUSES } from '#shared/domain/enumerations.ts'
import { text } from './text.ts'

const LIMIT_DEFAULT = 20

const limit = z
  .string()
  .regex(/^([1-9][0-9]?|100)$/, 'must be an integer from 1 to 100')
  .transform(Number)
  .default(LIMIT_DEFAULT)

const cursor = z.string().min(1).max(200).optional()

/** ISO 8601 with `Z` or an offset, as Unix milliseconds. A `+` that a client forgot to escape arrives as a space. */
const instant = z
  .string()
  .transform((value) => value.replace(/ (?=\d\d:\d\d$)/, '+'))
  .pipe(z.iso.datetime({ offset: true, message: 'must be an ISO 8601 date-time with Z or an offset' }))
  .transform((value) => Date.parse(value))

/** Query of `GET /invoices`. */
export const invoiceListQuery = z.strictObject({
  limit,
  cursor,
  status: z.enum(INVOICE_STATUSES).optional(),
  order_id: text(120).optional(),
  created_after: instant.optional(),
  created_before: instant.optional(),
})

/** Query of `GET /payments`. */
export const paymentListQuery = z.strictObject({
  limit,
  cursor,
  invoice_id: z.guid('must be a UUID').toLowerCase().optional(),
})

/** Query of operations that take none. */
export const noQuery = z.strictObject({})
