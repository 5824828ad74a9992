import { noQuery } from '#shared/contracts/http/list-query.ts'
import { productBody } from '#shared/contracts/http/product-create.ts'
import { validate } from '#shared/contracts/http/validate.ts'
import { createProduct, type ManageProductsDeps } from '#shared/usecases/manage-products.ts'
import { parseJson } from '../middleware/read-body.ts'
import { respond } from '../respond.ts'
import type { Handler } from '../route.ts'

/** `POST /products`: 201 with the product; 400 at `sku` when another one has it. */
export function createProductEndpoint(deps: ManageProductsDeps): Handler {
  return async (context) => {
    validate(noQuery, context.query)
    const body = validate(productBody, parseJson(context.rawBody))
    const product = await createProduct(deps, {
      workspaceId: context.workspace.id,
      mode: context.mode,
      body,
      productId: context.ids.resourceId,
    })
    return respond(context, 201, product)
  }
}
