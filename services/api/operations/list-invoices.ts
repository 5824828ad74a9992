import { invoiceResource } from '#shared/contracts/http/invoice-resource.ts'
import { invoiceListQuery } from '#shared/contracts/http/list-query.ts'
import { pendingInvoice } from '#shared/contracts/openapi/examples/invoice.ts'
import { presentInvoice, snapshotInvoice } from '#shared/usecases/invoices/present-invoice.ts'
import { cutPage } from '#shared/usecases/requests/list-cursor.ts'
import { defineOperation } from '../define-operation.ts'

/** The key mode's invoices, newest first. */
export const listInvoicesOperation = defineOperation({
  method: 'GET',
  path: '/invoices',
  operationId: 'listInvoices',
  tag: 'Invoices',
  summary: 'List invoices',
  description: "A page of the invoices of the key's mode, newest first.",
  scope: 'invoices:read',
  query: invoiceListQuery,
  success: {
    status: 200,
    description: 'A page of invoices.',
    resource: invoiceResource,
    envelope: 'InvoiceListResponse',
    listMax: 100,
    example: pendingInvoice,
  },
  errors: [],
  handle: async (deps, { workspace, mode, query: { limit, cursor, ...filters } }) => {
    const scope = { list: 'invoices', workspaceId: workspace.id, mode, filters }
    const rows = await deps.invoices.list({
      workspaceId: workspace.id,
      mode,
      limit: limit + 1,
      beforeId: cursor === undefined ? null : deps.listCursor.decode(scope, cursor),
      status: filters.status ?? null,
      orderId: filters.order_id ?? null,
      createdAfter: filters.created_after ?? null,
      createdBefore: filters.created_before ?? null,
    })
    const { page, meta } = cutPage(rows, limit, (last) => deps.listCursor.encode(scope, last.terms.id))
    return {
      page: page.map(({ terms, state }) => presentInvoice(terms, snapshotInvoice(deps.catalog, state), deps.urls)),
      meta,
    }
  },
})
