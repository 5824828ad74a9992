import { noQuery } from '#shared/contracts/http/list-query.ts'
import { pathId } from '#shared/contracts/http/path-id.ts'
import { emptyBody } from '#shared/contracts/http/simulate-request.ts'
import { validate } from '#shared/contracts/http/validate.ts'
import { type CancelDeps, cancelInvoice } from '#shared/usecases/cancel-invoice.ts'
import { type PublicUrls, presentInvoice, snapshotInvoice } from '#shared/usecases/present-invoice.ts'
import { parseJson } from '../middleware/read-body.ts'
import { respond } from '../respond.ts'
import type { Handler } from '../route.ts'

/** `POST /invoices/{id}/cancel`: 200 with the cancelled invoice, 409 when it has funds or ended already. */
export function cancelInvoiceEndpoint(deps: CancelDeps & { readonly urls: PublicUrls }): Handler {
  return async (context) => {
    const { id } = validate(pathId, context.params)
    validate(noQuery, context.query)
    validate(emptyBody, parseJson(context.rawBody))
    const { terms, state } = await cancelInvoice(deps, {
      workspaceId: context.workspace.id,
      mode: context.mode,
      invoiceId: id,
      opId: context.ids.opId,
    })
    return respond(context, 200, presentInvoice(terms, snapshotInvoice(state), deps.urls))
  }
}
