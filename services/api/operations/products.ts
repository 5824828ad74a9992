import { pageQuery } from '#shared/contracts/http/list-query.ts'
import { productBody } from '#shared/contracts/http/product-create.ts'
import { productResource } from '#shared/contracts/http/product-resource.ts'
import { productCreateExample, productExample } from '#shared/contracts/openapi/examples/products.ts'
import { createProduct, getProduct, listProducts } from '#shared/usecases/payment-links/manage-products.ts'
import { readPage } from '#shared/usecases/requests/list-cursor.ts'
import { defineOperation } from '../define-operation.ts'

const PRODUCT = { resource: productResource, envelope: 'ProductResponse', listMax: null, example: productExample }

/** Products, in the order of the reference. */
export const productOperations = [
  /** The key mode's products, newest first. */
  defineOperation({
    method: 'GET',
    path: '/products',
    operationId: 'listProducts',
    tag: 'Products',
    summary: 'List products',
    description: "A page of the products of the key's mode, newest first.",
    scope: 'products:read',
    query: pageQuery,
    success: {
      ...PRODUCT,
      status: 200,
      description: 'A page of products.',
      envelope: 'ProductListResponse',
      listMax: 100,
    },
    handle: (deps, { workspace: { id: workspaceId }, mode, query }) => {
      const scope = { list: 'products', workspaceId, mode }
      return readPage(deps, scope, query, (page) => listProducts(deps, { workspaceId, mode, ...page }))
    },
  }),

  /** 400 at `sku` when another product has the same one. */
  defineOperation({
    method: 'POST',
    path: '/products',
    operationId: 'createProduct',
    tag: 'Products',
    summary: 'Create a product',
    description: 'A `sku` that is already in use returns `VALIDATION_ERROR` with the path `sku`.',
    scope: 'products:write',
    restricted: true,
    body: { schema: productBody, example: productCreateExample },
    success: { ...PRODUCT, status: 201, description: 'The new product.' },
    handle: (deps, { workspace, mode, body, ids }) =>
      createProduct(deps, { workspaceId: workspace.id, mode, body, productId: ids.resourceId }),
  }),

  /** The current product. */
  defineOperation({
    method: 'GET',
    path: '/products/{id}',
    operationId: 'getProduct',
    tag: 'Products',
    summary: 'Read a product',
    description: 'The current product.',
    scope: 'products:read',
    success: { ...PRODUCT, status: 200, description: 'The product.' },
    handle: (deps, { workspace, mode, id }) => getProduct(deps, { workspaceId: workspace.id, mode, productId: id }),
  }),
]
