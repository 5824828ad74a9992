import { DATE, defineCollection, OWNED_FIELDS, optional, TEXT } from '#shared/db/connection/collection-model.ts'
import type { FiatCode } from '#shared/domain/enumerations.ts'
import type { Product } from '#shared/ports/products.ts'

/** A stored product; the price is a decimal string of minor units. */
export type ProductDocument = Omit<Product, 'id' | 'price' | 'createdAt' | 'updatedAt'> & {
  _id: string
  price: { minor: string; currency: FiatCode }
  createdAt: Date
  updatedAt: Date
}

/** The products collection. The unique index decides which of two products gets a SKU. */
export const PRODUCTS = defineCollection<ProductDocument>(
  'products',
  {
    _id: TEXT,
    ...OWNED_FIELDS,
    name: TEXT,
    description: optional(String),
    price: { minor: TEXT, currency: TEXT },
    sku: optional(String),
    active: { type: Boolean, required: true },
    createdAt: DATE,
    updatedAt: DATE,
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
