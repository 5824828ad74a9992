import { noQuery } from '#shared/contracts/http/list-query.ts'
import { pathId } from '#shared/contracts/http/path-id.ts'
import { simulateBody } from '#shared/contracts/http/simulate-request.ts'
import { validate } from '#shared/contracts/http/validate.ts'
import { type PublicUrls, presentInvoice, snapshotInvoice } from '#shared/usecases/present-invoice.ts'
import { type SimulateDeps, simulatePayment } from '#shared/usecases/simulate-payment.ts'
import { parseJson } from '../middleware/read-body.ts'
import { respond } from '../respond.ts'
import type { Handler } from '../route.ts'

/** `POST /test/invoices/{id}/simulate`: 200 with the invoice after the scenario; test keys only. */
export function simulateInvoice(deps: SimulateDeps & { readonly urls: PublicUrls }): Handler {
  return async (context) => {
    const { id } = validate(pathId, context.params)
    validate(noQuery, context.query)
    const { scenario } = validate(simulateBody, parseJson(context.rawBody))
    const { terms, state } = await simulatePayment(deps, {
      workspaceId: context.workspace.id,
      mode: context.mode,
      invoiceId: id,
      scenario,
      opId: context.ids.opId,
    })
    return respond(context, 200, presentInvoice(terms, snapshotInvoice(state), deps.urls))
  }
}
