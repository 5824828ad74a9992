import { COUNT, DATE, defineCollection, OWNED_FIELDS, optional, TEXT } from '#shared/db/connection/collection-model.ts'
import type { Mode } from '#shared/domain/enumerations.ts'
import type { InvoiceFigures } from '#shared/domain/reports/invoice-figures.ts'
import type { DeliveryFigures } from '#shared/ports/overview.ts'

/** What the rows of both collections have. A row with `dueAt` is to be counted again. */
export interface RollupFields {
  /** `<workspace or endpoint>:<mode>:<beginning>` */
  _id: string
  mode: Mode
  at: Date
  /** Grows with each mark; a count is stored only while it is what it was before the count began. */
  marks: number
  dueAt?: Date
  /** A count before this time is put off, so that a busy slot is not counted again for each change. */
  notBefore?: Date
}

/** Figures of the invoices of one workspace that were created or paid in one hour. */
export interface InvoiceRollupDocument extends RollupFields {
  workspaceId: string
  /** Absent until they are counted for the first time. */
  whole?: InvoiceFigures
  /** Of the four quarters: midnight of some zones is not on a full hour. */
  quarters?: readonly InvoiceFigures[]
}

/** Figures of the deliveries to one endpoint that were made in a quarter of an hour. */
export interface DeliveryRollupDocument extends RollupFields {
  endpointId: string
  figures?: DeliveryFigures
}

/** The front page shows 90 days beside the 90 days before, in days of any zone. */
export const INVOICE_ROLLUPS_KEPT_MS = 184 * 86_400_000
const DELIVERY_ROLLUP_LIFE_S = 3 * 86_400

const ROLLUP_FIELDS = {
  _id: TEXT,
  at: DATE,
  marks: COUNT,
  dueAt: optional(Date),
  notBefore: optional(Date),
} as const
const DUE = { key: { dueAt: 1 }, partialFilterExpression: { dueAt: { $exists: true } } } as const

/** The invoice_rollups collection: counted from the invoices, and counted again where it is missing. */
export const INVOICE_ROLLUPS = defineCollection<InvoiceRollupDocument>(
  'invoice_rollups',
  { ...ROLLUP_FIELDS, ...OWNED_FIELDS, whole: optional(Object), quarters: optional([Object]) },
  [
    { name: 'invoice_rollup_list', key: { workspaceId: 1, mode: 1, at: 1 } },
    { name: 'invoice_rollup_due', ...DUE },
    { name: 'invoice_rollup_life', key: { at: 1 }, expireAfterSeconds: INVOICE_ROLLUPS_KEPT_MS / 1_000 },
  ],
)

/** The delivery_rollups collection: counted from the deliveries; the front page reads a day of it. */
export const DELIVERY_ROLLUPS = defineCollection<DeliveryRollupDocument>(
  'delivery_rollups',
  { ...ROLLUP_FIELDS, mode: OWNED_FIELDS.mode, endpointId: TEXT, figures: optional(Object) },
  [
    { name: 'delivery_rollup_list', key: { endpointId: 1, mode: 1, at: 1 } },
    { name: 'delivery_rollup_due', ...DUE },
    { name: 'delivery_rollup_life', key: { at: 1 }, expireAfterSeconds: DELIVERY_ROLLUP_LIFE_S },
  ],
)
