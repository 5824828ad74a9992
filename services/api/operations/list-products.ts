import { pageQuery } from '#shared/contracts/http/list-query.ts'
import { productResource } from '#shared/contracts/http/product-resource.ts'
import { productExample } from '#shared/contracts/openapi/examples/products.ts'
import { listProducts } from '#shared/usecases/payment-links/manage-products.ts'
import { cutPage } from '#shared/usecases/requests/list-cursor.ts'
import { defineOperation } from '../define-operation.ts'

/** The key mode's products, newest first. */
export const listProductsOperation = defineOperation({
  method: 'GET',
  path: '/products',
  operationId: 'listProducts',
  tag: 'Products',
  summary: 'List products',
  description: "A page of the products of the key's mode, newest first.",
  scope: 'products:read',
  query: pageQuery,
  success: {
    status: 200,
    description: 'A page of products.',
    resource: productResource,
    envelope: 'ProductListResponse',
    listMax: 100,
    example: productExample,
  },
  errors: [],
  handle: async (deps, { workspace, mode, query: { limit, cursor } }) => {
    const scope = { list: 'products', workspaceId: workspace.id, mode }
    const products = await listProducts(deps, {
      workspaceId: workspace.id,
      mode,
      limit: limit + 1,
      beforeId: cursor === undefined ? null : deps.listCursor.decode(scope, cursor),
    })
    return cutPage(products, limit, (last) => deps.listCursor.encode(scope, last.id))
  },
})
