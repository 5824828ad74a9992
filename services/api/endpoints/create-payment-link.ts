import { noQuery } from '#shared/contracts/http/list-query.ts'
import { paymentLinkBody } from '#shared/contracts/http/payment-link-create.ts'
import { validate } from '#shared/contracts/http/validate.ts'
import { createPaymentLink, type ManagePaymentLinksDeps } from '#shared/usecases/manage-payment-links.ts'
import { parseJson } from '../middleware/read-body.ts'
import { respond } from '../respond.ts'
import type { Handler } from '../route.ts'

/** `POST /payment-links`: 201 with the link; 404 and 409 are about the product that it should copy. */
export function createPaymentLinkEndpoint(deps: ManagePaymentLinksDeps): Handler {
  return async (context) => {
    validate(noQuery, context.query)
    const body = validate(paymentLinkBody, parseJson(context.rawBody))
    const link = await createPaymentLink(deps, {
      workspace: context.workspace,
      mode: context.mode,
      body,
      linkId: context.ids.resourceId,
    })
    return respond(context, 201, link)
  }
}
