import { z } from 'zod'
import { defineCollection, type RecordOf, type StoredOf } from '#shared/db/connection/collection-model.ts'
import { AMOUNT, OWNED_FIELDS, TIME } from '#shared/db/connection/stored-fields.ts'
import { FIAT_CODES } from '#shared/domain/enumerations.ts'

/** The products collection. The unique index decides which of two products gets a SKU. */
export const PRODUCTS = defineCollection(
  'products',
  {
    _id: z.string(),
    ...OWNED_FIELDS,
    name: z.string(),
    description: z.string().nullable(),
    /** Minor units of the currency, above zero. */
    price: z.object({ minor: AMOUNT, currency: z.enum(FIAT_CODES) }),
    /** The merchant's own code, unique per workspace and mode. */
    sku: z.string().nullable(),
    /** New payment links may be created from it. */
    active: z.boolean(),
    createdAt: TIME,
    updatedAt: TIME,
  },
  [
    { name: 'product_list', key: { workspaceId: 1, mode: 1, _id: -1 } },
    {
      name: 'product_sku',
      key: { workspaceId: 1, mode: 1, sku: 1 },
      unique: true,
      // Products without a SKU are null there and must not collide.
      partialFilterExpression: { sku: { $gt: '' } },
    },
  ],
)

/** A stored product. */
export type ProductDocument = StoredOf<typeof PRODUCTS>

/** Something a merchant sells at a fixed price. */
export type Product = RecordOf<typeof PRODUCTS>
