import { PaymeshError } from '#shared/contracts/errors.ts'
import { noQuery } from '#shared/contracts/http/list-query.ts'
import { pathId } from '#shared/contracts/http/path-id.ts'
import { validate } from '#shared/contracts/http/validate.ts'
import type { InvoiceRepository } from '#shared/usecases/ports/invoices.ts'
import { type PublicUrls, presentInvoice, snapshotInvoice } from '#shared/usecases/present-invoice.ts'
import { respond } from '../respond.ts'
import type { Handler } from '../route.ts'

/** `GET /invoices/{id}`: 200 with the invoice as it is now. */
export function getInvoice(deps: {
  readonly invoices: Pick<InvoiceRepository, 'findInWorkspace'>
  readonly urls: PublicUrls
}): Handler {
  return async (context) => {
    const { id } = validate(pathId, context.params)
    validate(noQuery, context.query)
    const invoice = await deps.invoices.findInWorkspace(context.workspace.id, context.mode, id)
    if (invoice === null) throw new PaymeshError('NOT_FOUND')
    return respond(context, 200, presentInvoice(invoice.terms, snapshotInvoice(invoice.state), deps.urls))
  }
}
