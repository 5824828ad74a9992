import { z } from 'zod'
import { defineCollection, type StoredOf } from '#shared/db/connection/collection-model.ts'
import { OWNED_FIELDS, objectAs, TIME } from '#shared/db/connection/stored-fields.ts'
import type { InvoiceFigures } from '#shared/domain/reports/invoice-figures.ts'
import type { DeliveryFigures } from '#shared/ports/overview.ts'

/** The front page shows 90 days beside the 90 days before, in days of any zone. */
export const INVOICE_ROLLUPS_KEPT_MS = 184 * 86_400_000
const DELIVERY_ROLLUP_LIFE_S = 3 * 86_400

const ROLLUP_FIELDS = {
  /** `<workspace or endpoint>:<mode>:<beginning>` */
  _id: z.string(),
  mode: OWNED_FIELDS.mode,
  at: TIME,
  /** Grows with each mark; a count is stored only while it is what it was before the count began. */
  marks: z.number(),
  /** Absent unless the row is to be counted again. */
  dueAt: TIME.exactOptional(),
  /** A count before this time is put off, so that a busy slot is not counted again for each change. */
  notBefore: TIME.exactOptional(),
} as const
const DUE = { key: { dueAt: 1 }, partialFilterExpression: { dueAt: { $exists: true } } } as const

/** The invoice_rollups collection: counted from the invoices, and counted again where it is missing. */
export const INVOICE_ROLLUPS = defineCollection(
  'invoice_rollups',
  {
    ...ROLLUP_FIELDS,
    workspaceId: z.string(),
    /** Absent until they are counted for the first time. */
    whole: objectAs<InvoiceFigures>().exactOptional(),
    /** Of the four quarters: midnight of some zones is not on a full hour. */
    quarters: z.array(objectAs<InvoiceFigures>()).exactOptional(),
  },
  [
    { name: 'invoice_rollup_list', key: { workspaceId: 1, mode: 1, at: 1 } },
    { name: 'invoice_rollup_due', ...DUE },
    { name: 'invoice_rollup_life', key: { at: 1 }, expireAfterSeconds: INVOICE_ROLLUPS_KEPT_MS / 1_000 },
  ],
)

/** Figures of the invoices of one workspace that were created or paid in one hour. */
export type InvoiceRollupDocument = StoredOf<typeof INVOICE_ROLLUPS>

/** The delivery_rollups collection: counted from the deliveries; the front page reads a day of it. */
export const DELIVERY_ROLLUPS = defineCollection(
  'delivery_rollups',
  {
    ...ROLLUP_FIELDS,
    endpointId: z.string(),
    figures: objectAs<DeliveryFigures>().exactOptional(),
  },
  [
    { name: 'delivery_rollup_list', key: { endpointId: 1, mode: 1, at: 1 } },
    { name: 'delivery_rollup_due', ...DUE },
    { name: 'delivery_rollup_life', key: { at: 1 }, expireAfterSeconds: DELIVERY_ROLLUP_LIFE_S },
  ],
)

/** Figures of the deliveries to one endpoint that were made in a quarter of an hour. */
export type DeliveryRollupDocument = StoredOf<typeof DELIVERY_ROLLUPS>

/** What the rows of both collections have. */
export type RollupFields = Pick<InvoiceRollupDocument, keyof typeof ROLLUP_FIELDS>
