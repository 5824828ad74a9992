import { COUNT, DATE, defineCollection, OWNED_FIELDS, TEXT } from '#shared/db/connection/collection-model.ts'
import type { Mode } from '#shared/domain/enumerations.ts'

/** Number of a month's invoices up to a position in the order of their ids. */
export interface InvoiceCountDocument {
  /** `<workspace>:<mode>:<month>` */
  _id: string
  workspaceId: string
  mode: Mode
  /** `2026-11` */
  month: string
  /** Invoices of the month with a smaller id are counted here, others are not. */
  through: string
  all: number
  byLinks: number
  /** Up to this id the count was compared with the invoices, at a time when no create with a smaller id could still be in flight. */
  checkedThrough: string
  checkedAll: number
  checkedByLinks: number
  monthEndsAt: Date
}

const TWO_MONTHS_S = 62 * 86_400

/** The invoice_counts collection: derived from the invoices and rebuilt where it is missing. */
export const INVOICE_COUNTS = defineCollection<InvoiceCountDocument>(
  'invoice_counts',
  {
    _id: TEXT,
    ...OWNED_FIELDS,
    month: TEXT,
    through: TEXT,
    all: COUNT,
    byLinks: COUNT,
    checkedThrough: TEXT,
    checkedAll: COUNT,
    checkedByLinks: COUNT,
    monthEndsAt: DATE,
  },
  [{ name: 'invoice_count_life', key: { monthEndsAt: 1 }, expireAfterSeconds: TWO_MONTHS_S }],
)
