import type mongoose from 'mongoose'
import type { AuditRecord } from '#shared/db/audit/audit-model.ts'
import { audited, insertAudited } from '#shared/db/audit/audited.ts'
import type { Database } from '#shared/db/connection/connect.ts'
import { toDate } from '#shared/db/connection/dates.ts'
import { duplicateKeyFields } from '#shared/db/connection/duplicate-key.ts'
import { NEWEST } from '#shared/db/connection/newest.ts'
import type { Mode } from '#shared/domain/enumerations.ts'
import type { Ms } from '#shared/domain/invoice/model.ts'
import type { Product, ProductChange } from '#shared/ports/products.ts'
import type { ProductQuery } from '#shared/ports/workspace-page-query.ts'
import { afterPlace, listSort } from './list-order.ts'
import { PRODUCTS, type ProductDocument } from './product-model.ts'

type Insertion = Awaited<ReturnType<ProductRepository['insert']>>

/** Products on MongoDB. Ids and SKUs are unique by index, so an insert needs no read before it. */
export function createProductRepository(db: Database) {
  const products = db.collection(PRODUCTS)

  /** A retry collides with its own product, on the id or on the SKU; the store may report either first. */
  const checkCollision = async (product: Product, fields: ReadonlySet<string>): Promise<Insertion> => {
    const { id, workspaceId, mode, sku } = product
    const where = fields.has('sku') ? { workspaceId, mode, sku } : { _id: id }
    const there = await products.findOne(where, NEWEST)
    if (there === null) return { outcome: 'in_progress' }
    return there._id === id ? { outcome: 'stored', product: PRODUCTS.toRecord(there) } : { outcome: 'sku_taken' }
  }

  return {
    /**
     * Stores a product unless its id or its SKU exists already. `stored` returns the product with this id: this one, or
     * the one that an earlier run of the same operation stored. An audit row is stored together with it. `in_progress`: the conflicting product cannot be read yet.
     */
    insert: async (
      product: Product,
      audit?: AuditRecord,
    ): Promise<
      | { readonly outcome: 'stored'; readonly product: Product }
      | { readonly outcome: 'sku_taken' }
      | { readonly outcome: 'in_progress' }
    > => {
      try {
        await insertAudited(db, audit, (within) => products.insertOne(PRODUCTS.toDocument(product), within))
        return { outcome: 'stored', product }
      } catch (error) {
        const fields = duplicateKeyFields(error)
        if (fields === null) throw error
        return checkCollision(product, fields)
      }
    },
    /**
     * Changes a product that was last changed at `version`, in one write with its audit row. False, and nothing is stored, when it was
     * changed since or is unknown, or when the action of this row ran before.
     */
    update: (
      { workspaceId, mode, id, version }: Pick<Product, 'workspaceId' | 'mode' | 'id'> & { readonly version: Ms },
      { name, description, priceMinor }: ProductChange,
      at: Ms,
      audit: AuditRecord,
    ): Promise<boolean> =>
      audited(db, audit, async (session) => {
        const seen = { _id: id, workspaceId, mode, updatedAt: toDate(version) }
        const change = { $set: { name, description, 'price.minor': priceMinor.toString(), updatedAt: toDate(at) } }
        return (await products.updateOne(seen, change, { session })).matchedCount === 1
      }),
    findInWorkspace: async (workspaceId: string, mode: Mode, id: string): Promise<Product | null> =>
      PRODUCTS.toRecord(await products.findOne({ _id: id, workspaceId, mode })),
    list: async (query: ProductQuery): Promise<readonly Product[]> =>
      (await products.find(productFilter(query)).sort(listSort(query)).limit(query.limit).toArray()).map(
        PRODUCTS.toRecord,
      ),
  }
}

/** The type of what {@link createProductRepository} returns. */
export type ProductRepository = ReturnType<typeof createProductRepository>

/** The filter of `GET /products`; exported for the test that explains it. */
export function productFilter(query: ProductQuery): mongoose.mongo.Filter<ProductDocument> {
  const { workspaceId, mode } = query
  return { workspaceId, mode, ...afterPlace(query) }
}
