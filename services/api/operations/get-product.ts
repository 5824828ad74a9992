import { productResource } from '#shared/contracts/http/product-resource.ts'
import { productExample } from '#shared/contracts/openapi/examples/catalogue.ts'
import { getProduct } from '#shared/usecases/payment-links/manage-products.ts'
import { defineOperation } from '../define-operation.ts'

/** The product as it is now. */
export const getProductOperation = defineOperation({
  method: 'GET',
  path: '/products/{id}',
  operationId: 'getProduct',
  tag: 'Products',
  summary: 'Read a product',
  description: 'The product as it is now.',
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
