import { noQuery } from '#shared/contracts/http/list-query.ts'
import { pathId } from '#shared/contracts/http/path-id.ts'
import { emptyBody } from '#shared/contracts/http/simulate-request.ts'
import { validate } from '#shared/contracts/http/validate.ts'
import { deactivatePaymentLink, type ManagePaymentLinksDeps } from '#shared/usecases/manage-payment-links.ts'
import { parseJson } from '../middleware/read-body.ts'
import { respond } from '../respond.ts'
import type { Handler } from '../route.ts'

/** `POST /payment-links/{id}/deactivate`: 200 with the ended link, also when it had ended before. */
export function deactivatePaymentLinkEndpoint(
  deps: Pick<ManagePaymentLinksDeps, 'paymentLinks' | 'urls' | 'clock'>,
): Handler {
  return async (context) => {
    const { id } = validate(pathId, context.params)
    validate(noQuery, context.query)
    validate(emptyBody, parseJson(context.rawBody))
    const scope = { workspaceId: context.workspace.id, mode: context.mode, linkId: id }
    return respond(context, 200, await deactivatePaymentLink(deps, scope))
  }
}
