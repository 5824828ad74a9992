import { createList, type PaymeshList } from './list.ts'
import { pathId } from './path-id.ts'
import type { CallOptions, Transport, WriteOptions } from './transport.ts'
import type { ListQuery, Product, ProductCreate } from './types.ts'

/** Operations on products. Scopes `products:read` and `products:write`. */
export interface Products {
  /** Creates a product; a `sku` in use throws `VALIDATION_ERROR` with the path `sku`. */
  create(input: ProductCreate, options?: WriteOptions): Promise<Product>
  get(id: string, options?: CallOptions): Promise<Product>
  list(query?: ListQuery, options?: CallOptions): PaymeshList<Product>
}

/** The product operations over `transport`. */
export function createProducts(transport: Transport): Products {
  return {
    create: async (body, options) =>
      (await transport<Product>({ method: 'POST', path: '/products', body, options })).data,
    get: async (id, options) =>
      (await transport<Product>({ method: 'GET', path: `/products/${pathId(id)}`, options })).data,
    list: (query, options) => createList(transport, '/products', query, options),
  }
}
