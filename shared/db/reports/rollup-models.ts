import { z } from 'zod'
import { defineCollection, type StoredOf } from '#shared/db/connection/collection-model.ts'
import { OWNED_FIELDS, objectAs, TIME } from '#shared/db/connection/stored-fields.ts'
import type { InvoiceFigures } from '#shared/domain/books/invoice-books.ts'
import type { Mode } from '#shared/domain/enumerations.ts'
import type { Ms } from '#shared/domain/invoice/model.ts'
import type { DeliveryFigures } from '#shared/ports/overview.ts'

export const QUARTER_MS = 900_000
export const HOUR_MS = 4 * QUARTER_MS

/** Whose stored figures: of the invoices of a workspace in one hour, or of the deliveries to an endpoint in a quarter of one. */
export interface RollupSlot {
  readonly of: 'invoices' | 'deliveries'
  /** The workspace, or the endpoint. */
  readonly ownerId: string
  readonly mode: Mode
  /** When the hour or the quarter began. */
  readonly at: Ms
}

/** The id of a slot's row, and of nothing else. */
export const slotId = ({ ownerId, mode, at }: RollupSlot): string => `${ownerId}:${mode}:${new Date(at).toISOString()}`

/** The front page shows each month of the last year, and up to 190 days beside as many before, in days of any zone. */
export const INVOICE_ROLLUPS_KEPT_MS = 400 * 86_400_000
const DELIVERY_ROLLUP_LIFE_S = 3 * 86_400

const ROLLUP_FIELDS = {
  /** `<workspace or endpoint>:<mode>:<beginning>` */
  _id: z.string(),
  mode: OWNED_FIELDS.mode,
  at: TIME,
  /** Before the count began. */
  countedAt: TIME,
} as const

/** The invoice_rollups collection: counted from the invoices, and counted again where something changed. */
export const INVOICE_ROLLUPS = defineCollection(
  'invoice_rollups',
  {
    ...ROLLUP_FIELDS,
    workspaceId: OWNED_FIELDS.workspaceId,
    whole: objectAs<InvoiceFigures>(),
    /** Of the four quarters: midnight of some zones is not on a full hour. */
    quarters: z.array(objectAs<InvoiceFigures>()),
  },
  [
    { name: 'invoice_rollup_list', key: { workspaceId: 1, mode: 1, at: 1 } },
    { name: 'invoice_rollup_life', key: { at: 1 }, expireAfterSeconds: INVOICE_ROLLUPS_KEPT_MS / 1_000 },
  ],
)

/** Figures of the invoices of one workspace that were created or paid in one hour. */
export type InvoiceRollupDocument = StoredOf<typeof INVOICE_ROLLUPS>

/** The delivery_rollups collection: counted from the deliveries; the front page reads a day of it. */
export const DELIVERY_ROLLUPS = defineCollection(
  'delivery_rollups',
  { ...ROLLUP_FIELDS, endpointId: z.string(), figures: objectAs<DeliveryFigures>() },
  [
    { name: 'delivery_rollup_list', key: { endpointId: 1, mode: 1, at: 1 } },
    { name: 'delivery_rollup_life', key: { at: 1 }, expireAfterSeconds: DELIVERY_ROLLUP_LIFE_S },
  ],
)

/** Figures of the deliveries to one endpoint that were made in a quarter of an hour. */
export type DeliveryRollupDocument = StoredOf<typeof DELIVERY_ROLLUPS>
