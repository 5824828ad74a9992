import { pageQuery } from '#shared/contracts/http/list-query.ts'
import { validate } from '#shared/contracts/http/validate.ts'
import { cutPage, type ListCursor } from '#shared/usecases/list-cursor.ts'
import { listPaymentLinks, type ManagePaymentLinksDeps } from '#shared/usecases/manage-payment-links.ts'
import { respondList } from '../respond.ts'
import type { Handler } from '../route.ts'

/** `GET /payment-links`: 200 with a page of the key mode's links, newest first, ended ones included. */
export function listPaymentLinksEndpoint(
  deps: Pick<ManagePaymentLinksDeps, 'paymentLinks' | 'urls'> & { readonly listCursor: ListCursor },
): Handler {
  return async (context) => {
    const query = validate(pageQuery, context.query)
    const scope = { list: 'payment-links', workspaceId: context.workspace.id, mode: context.mode }
    const links = await listPaymentLinks(deps, {
      workspaceId: scope.workspaceId,
      mode: scope.mode,
      limit: query.limit + 1,
      beforeId: query.cursor === undefined ? null : deps.listCursor.decode(scope, query.cursor),
    })
    const { page, meta } = cutPage(links, query.limit, (last) => deps.listCursor.encode(scope, last.id))
    return respondList(context, page, meta)
  }
}
