import { z } from 'zod'
import { defineCollection, type StoredOf } from '#shared/db/connection/collection-model.ts'
import { OWNED_FIELDS, TIME } from '#shared/db/connection/stored-fields.ts'

const TWO_MONTHS_S = 62 * 86_400

/** The invoice_counts collection: derived from the invoices and rebuilt where it is missing. */
export const INVOICE_COUNTS = defineCollection(
  'invoice_counts',
  {
    /** `<workspace>:<mode>:<month>` */
    _id: z.string(),
    ...OWNED_FIELDS,
    /** `2026-11` */
    month: z.string(),
    /** Invoices of the month with a smaller id are counted here, others are not. */
    through: z.string(),
    all: z.number(),
    byLinks: z.number(),
    /** Up to this id the count was compared with the invoices, at a time when no create with a smaller id could still be in flight. */
    checkedThrough: z.string(),
    checkedAll: z.number(),
    checkedByLinks: z.number(),
    monthEndsAt: TIME,
  },
  [{ name: 'invoice_count_life', key: { monthEndsAt: 1 }, expireAfterSeconds: TWO_MONTHS_S }],
)

/** Number of a month's invoices up to a position in the order of their ids. */
export type InvoiceCountDocument = StoredOf<typeof INVOICE_COUNTS>
