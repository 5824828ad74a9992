import { invoiceListQuery } from '#shared/contracts/http/list-query.ts'
import { validate } from '#shared/contracts/http/validate.ts'
import { cutPage, type ListCursor } from '#shared/usecases/list-cursor.ts'
import type { InvoiceRepository } from '#shared/usecases/ports/invoices.ts'
import { type PublicUrls, presentInvoice, snapshotInvoice } from '#shared/usecases/present-invoice.ts'
import { respondList } from '../respond.ts'
import type { Handler } from '../route.ts'

/** `GET /invoices`: 200 with a page of the key mode's invoices, newest first. */
export function listInvoices(deps: {
  readonly invoices: Pick<InvoiceRepository, 'list'>
  readonly listCursor: ListCursor
  readonly urls: PublicUrls
}): Handler {
  return async (context) => {
    const { limit, cursor, ...filters } = validate(invoiceListQuery, context.query)
    const workspaceId = context.workspace.id
    const { mode } = context
    const scope = { list: 'invoices', workspaceId, mode, filters }
    const rows = await deps.invoices.list({
      workspaceId,
      mode,
      limit: limit + 1,
      beforeId: cursor === undefined ? null : deps.listCursor.decode(scope, cursor),
      status: filters.status ?? null,
      orderId: filters.order_id ?? null,
      createdAfter: filters.created_after ?? null,
      createdBefore: filters.created_before ?? null,
    })
    const { page, meta } = cutPage(rows, limit, (last) => deps.listCursor.encode(scope, last.terms.id))
    const resources = page.map(({ terms, state }) => presentInvoice(terms, snapshotInvoice(state), deps.urls))
    return respondList(context, resources, meta)
  }
}
