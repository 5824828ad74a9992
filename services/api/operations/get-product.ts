import { productResource } from '#shared/contracts/http/product-resource.ts'
import { productExample } from '#shared/contracts/openapi/examples/products.ts'
import { getProduct } from '#shared/usecases/payment-links/manage-products.ts'
import { defineOperation } from '../define-operation.ts'

/** The current product. */
export const getProductOperation = defineOperation({
  method: 'GET',
  path: '/products/{id}',
  operationId: 'getProduct',
  tag: 'Products',
  summary: 'Read a product',
  description: 'The current product.',
  scope: 'products:read',
  success: {
    status: 200,
    description: 'The product.',
    resource: productResource,
    envelope: 'ProductResponse',
    listMax: null,
    example: productExample,
  },
  errors: [],
  handle: (deps, { workspace, mode, id }) => getProduct(deps, { workspaceId: workspace.id, mode, productId: id }),
})
