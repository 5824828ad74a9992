import { noQuery } from '#shared/contracts/http/list-query.ts'
import { pathId } from '#shared/contracts/http/path-id.ts'
import { validate } from '#shared/contracts/http/validate.ts'
import { getPaymentLink, type ManagePaymentLinksDeps } from '#shared/usecases/manage-payment-links.ts'
import { respond } from '../respond.ts'
import type { Handler } from '../route.ts'

/** `GET /payment-links/{id}`: 200 with the link, its status and its number of uses as they are now. */
export function getPaymentLinkEndpoint(deps: Pick<ManagePaymentLinksDeps, 'paymentLinks' | 'urls'>): Handler {
  return async (context) => {
    const { id } = validate(pathId, context.params)
    validate(noQuery, context.query)
    const scope = { workspaceId: context.workspace.id, mode: context.mode, linkId: id }
    return respond(context, 200, await getPaymentLink(deps, scope))
  }
}
