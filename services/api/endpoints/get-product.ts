import { noQuery } from '#shared/contracts/http/list-query.ts'
import { pathId } from '#shared/contracts/http/path-id.ts'
import { validate } from '#shared/contracts/http/validate.ts'
import { getProduct, type ManageProductsDeps } from '#shared/usecases/manage-products.ts'
import { respond } from '../respond.ts'
import type { Handler } from '../route.ts'

/** `GET /products/{id}`: 200 with the product. */
export function getProductEndpoint(deps: Pick<ManageProductsDeps, 'products'>): Handler {
  return async (context) => {
    const { id } = validate(pathId, context.params)
    validate(noQuery, context.query)
    const scope = { workspaceId: context.workspace.id, mode: context.mode, productId: id }
    return respond(context, 200, await getProduct(deps, scope))
  }
}
