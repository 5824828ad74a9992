import { pageQuery } from '#shared/contracts/http/list-query.ts'
import { validate } from '#shared/contracts/http/validate.ts'
import { cutPage, type ListCursor } from '#shared/usecases/list-cursor.ts'
import { listProducts, type ManageProductsDeps } from '#shared/usecases/manage-products.ts'
import { respondList } from '../respond.ts'
import type { Handler } from '../route.ts'

/** `GET /products`: 200 with a page of the key mode's products, newest first. */
export function listProductsEndpoint(
  deps: Pick<ManageProductsDeps, 'products'> & { readonly listCursor: ListCursor },
): Handler {
  return async (context) => {
    const query = validate(pageQuery, context.query)
    const scope = { list: 'products', workspaceId: context.workspace.id, mode: context.mode }
    const products = await listProducts(deps, {
      workspaceId: scope.workspaceId,
      mode: scope.mode,
      limit: query.limit + 1,
      beforeId: query.cursor === undefined ? null : deps.listCursor.decode(scope, query.cursor),
    })
    const { page, meta } = cutPage(products, query.limit, (last) => deps.listCursor.encode(scope, last.id))
    return respondList(context, page, meta)
  }
}
