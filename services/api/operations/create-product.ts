import { productBody } from '#shared/contracts/http/product-create.ts'
import { productResource } from '#shared/contracts/http/product-resource.ts'
import { productCreateExample, productExample } from '#shared/contracts/openapi/examples/products.ts'
import { createProduct } from '#shared/usecases/payment-links/manage-products.ts'
import { defineOperation } from '../define-operation.ts'

/** 400 at `sku` when another product has the same one. */
export const createProductOperation = defineOperation({
  method: 'POST',
  path: '/products',
  operationId: 'createProduct',
  tag: 'Products',
  summary: 'Create a product',
  description: 'A `sku` that is already in use returns `VALIDATION_ERROR` with the path `sku`.',
  scope: 'products:write',
  restricted: true,
  body: { schema: productBody, example: productCreateExample },
  success: {
    status: 201,
    description: 'The new product.',
    resource: productResource,
    envelope: 'ProductResponse',
    listMax: null,
    example: productExample,
  },
  errors: [],
  handle: (deps, { workspace, mode, body, ids }) =>
    createProduct(deps, { workspaceId: workspace.id, mode, body, productId: ids.resourceId }),
})
