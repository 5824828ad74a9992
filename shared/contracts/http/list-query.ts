import { z } from 'zod'
import { boundedText } from '#shared/contracts/bounded-text.ts'
import { INVOICE_STATUSES } from '#shared/domain/enumerations.ts'
import { text } from './text.ts'
import { documentedAs } from './wire-types.ts'

const LIMIT_DEFAULT = 20
const INSTANT_FORM = 'must be an ISO 8601 date-time with Z or an offset'

const limit = boundedText(3, 'must be an integer from 1 to 100')
  .regex(/^([1-9][0-9]?|100)$/, 'must be an integer from 1 to 100')
  .transform(Number)
  .default(LIMIT_DEFAULT)
  .meta({
    description: 'Most records of a page.',
    override: documentedAs({ type: 'integer', format: 'int32', minimum: 1, maximum: 100, default: LIMIT_DEFAULT }),
  })

const cursor = boundedText(200)
  .min(1)
  .meta({ pattern: '^[!-~]+$' })
  .optional()
  .describe('`meta.next_cursor` of the page before; opaque.')

/** ISO 8601 with `Z` or an offset, as Unix milliseconds. A `+` that a client did not escape arrives as a space. */
const instant = boundedText(40, INSTANT_FORM)
  .transform((value) => value.replace(/ (?=\d\d:\d\d$)/, '+'))
  .pipe(z.iso.datetime({ offset: true, message: INSTANT_FORM }))
  .transform((value) => Date.parse(value))
  .meta({ override: documentedAs({ type: 'string', format: 'date-time' }) })

/** Query of `GET /invoices`. */
export const invoiceListQuery = z.strictObject({
  limit,
  cursor,
  status: z.enum(INVOICE_STATUSES).optional().describe('Only invoices in this state.'),
  order_id: text(120).optional().describe('Only invoices with exactly this reference.'),
  created_after: instant.optional().describe('Only invoices created later than this: ISO 8601 with `Z` or an offset.'),
  created_before: instant
    .optional()
    .describe('Only invoices created earlier than this: ISO 8601 with `Z` or an offset.'),
})

/** Query of `GET /payments`. */
export const paymentListQuery = z.strictObject({
  limit,
  cursor,
  invoice_id: z.guid('must be a UUID').toLowerCase().optional().describe('Only payments of this invoice.'),
})

/** Query of lists without filters: products and payment links. */
export const pageQuery = z.strictObject({ limit, cursor })

/** Query of operations without parameters. */
export const noQuery = z.strictObject({})
