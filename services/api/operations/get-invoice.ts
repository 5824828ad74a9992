import { PaymeshError } from '#shared/contracts/errors.ts'
import { invoiceResource } from '#shared/contracts/http/invoice-resource.ts'
import { pendingInvoice } from '#shared/contracts/openapi/examples/invoice.ts'
import { presentInvoice, snapshotInvoice } from '#shared/usecases/invoices/present-invoice.ts'
import { defineOperation } from '../define-operation.ts'

/** The current invoice. */
export const getInvoiceOperation = defineOperation({
  method: 'GET',
  path: '/invoices/{id}',
  operationId: 'getInvoice',
  tag: 'Invoices',
  summary: 'Read an invoice',
  description: 'The current invoice, with the amounts received and confirmed so far.',
  scope: 'invoices:read',
  success: {
    status: 200,
    description: 'The invoice.',
    resource: invoiceResource,
    envelope: 'InvoiceResponse',
    listMax: null,
    example: pendingInvoice,
  },
  errors: [],
  handle: async (deps, { workspace, mode, id }) => {
    const invoice = await deps.invoices.findInWorkspace(workspace.id, mode, id)
    if (invoice === null) throw new PaymeshError('NOT_FOUND')
    return presentInvoice(invoice.terms, snapshotInvoice(deps.catalog, invoice.state), deps.urls)
  },
})
