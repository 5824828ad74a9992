import { invoiceResource } from '#shared/contracts/http/invoice-resource.ts'
import { cancelledInvoice } from '#shared/contracts/openapi/examples/invoice.ts'
import { cancelInvoice } from '#shared/usecases/invoices/cancel-invoice.ts'
import { presentInvoice, snapshotInvoice } from '#shared/usecases/invoices/present-invoice.ts'
import { defineOperation } from '../define-operation.ts'

/** 409 when the invoice has received money or has ended. */
export const cancelInvoiceOperation = defineOperation({
  method: 'POST',
  path: '/invoices/{id}/cancel',
  operationId: 'cancelInvoice',
  tag: 'Invoices',
  summary: 'Cancel an invoice',
  description:
    'Ends an invoice in `new`, `pending` or `expired` that has received nothing. Other invoices are refused with ' +
    '`INVALID_STATE`.',
  scope: 'invoices:write',
  success: {
    status: 200,
    description: 'The cancelled invoice.',
    resource: invoiceResource,
    envelope: 'InvoiceResponse',
    listMax: null,
    example: cancelledInvoice,
  },
  errors: ['INVALID_STATE'],
  handle: async (deps, { workspace, mode, id, ids }) => {
    const scope = { workspaceId: workspace.id, mode, invoiceId: id, opId: ids.opId }
    const { terms, state } = await cancelInvoice(deps, scope)
    return presentInvoice(terms, snapshotInvoice(deps.catalog, state), deps.urls)
  },
})
