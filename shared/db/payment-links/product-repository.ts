import type mongoose from 'mongoose'
import { audited, insertAudited } from '#shared/db/audit/audited.ts'
import type { Database } from '#shared/db/connection/connect.ts'
import { toDate } from '#shared/db/connection/dates.ts'
import { duplicateKeyFields } from '#shared/db/connection/duplicate-key.ts'
import { readBack } from '#shared/db/connection/read-back.ts'
import type { Product, ProductRepository } from '#shared/ports/products.ts'
import type { ProductQuery } from '#shared/ports/workspace-page-query.ts'
import { afterPlace, listSort } from './list-order.ts'
import { PRODUCTS, type ProductDocument } from './product-model.ts'

type Insertion = Awaited<ReturnType<ProductRepository['insert']>>

/** Products on MongoDB. Ids and SKUs are unique by index, so an insert needs no read before it. */
export function createProductRepository(db: Database): ProductRepository {
  const products = db.collection(PRODUCTS)

  /** A retry collides with its own product, on the id or on the SKU; the store may report either first. */
  const checkCollision = async (product: Product, fields: ReadonlySet<string>): Promise<Insertion> => {
    const { id, workspaceId, mode, sku } = product
    const where = fields.has('sku') ? { workspaceId, mode, sku } : { _id: id }
    const there = await readBack(() => products.findOne(where))
    if (there === null) return { outcome: 'in_progress' }
    return there._id === id ? { outcome: 'stored', product: PRODUCTS.toRecord(there) } : { outcome: 'sku_taken' }
  }

  return {
    insert: async (product, audit) => {
      try {
        await insertAudited(db, audit, async (session) => {
          await products.insertOne(PRODUCTS.toDocument(product), session === null ? {} : { session })
        })
        return { outcome: 'stored', product }
      } catch (error) {
        const fields = duplicateKeyFields(error)
        if (fields === null) throw error
        return checkCollision(product, fields)
      }
    },
    update: ({ workspaceId, mode, id, version }, { name, description, priceMinor }, at, audit) =>
      audited(db, audit, async (session) => {
        const seen = { _id: id, workspaceId, mode, updatedAt: toDate(version) }
        const change = { $set: { name, description, 'price.minor': priceMinor.toString(), updatedAt: toDate(at) } }
        return (await products.updateOne(seen, change, { session })).matchedCount === 1
      }),
    findInWorkspace: async (workspaceId, mode, id) => {
      const stored = await products.findOne({ _id: id, workspaceId, mode })
      return stored === null ? null : PRODUCTS.toRecord(stored)
    },
    list: async (query) =>
      (await products.find(productFilter(query)).sort(listSort(query)).limit(query.limit).toArray()).map(
        PRODUCTS.toRecord,
      ),
  }
}

/** The filter of `GET /products`; exported for the test that explains it. */
export function productFilter(query: ProductQuery): mongoose.mongo.Filter<ProductDocument> {
  const { workspaceId, mode } = query
  return { workspaceId, mode, ...afterPlace(query) }
}
