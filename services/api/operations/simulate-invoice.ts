import { invoiceResource } from '#shared/contracts/http/invoice-resource.ts'
import { simulateBody } from '#shared/contracts/http/simulate-request.ts'
import { simulatedInvoice, simulateExample } from '#shared/contracts/openapi/examples/invoice.ts'
import { presentInvoice, snapshotInvoice } from '#shared/usecases/invoices/present-invoice.ts'
import { simulatePayment } from '#shared/usecases/invoices/simulate-payment.ts'
import { defineOperation } from '../define-operation.ts'

/** Test keys only. The invoice after the scenario. */
export const simulateInvoiceOperation = defineOperation({
  method: 'POST',
  path: '/test/invoices/{id}/simulate',
  operationId: 'simulateInvoice',
  tag: 'Invoices',
  summary: 'Simulate a payment',
  description:
    'Plays a payment, or its absence, on a test invoice: same state machine, same events, `livemode: false`. Test keys ' +
    'only.\n\nAn invoice in `new` first takes the first asset that the workspace can receive.',
  scope: 'invoices:write',
  testOnly: true,
  body: { schema: simulateBody, example: simulateExample },
  success: {
    status: 200,
    description: 'The invoice afterwards.',
    resource: invoiceResource,
    envelope: 'InvoiceResponse',
    listMax: null,
    example: simulatedInvoice,
  },
  errors: ['INVALID_STATE', 'NO_WALLET_FOR_ASSET', 'AMOUNT_BELOW_MINIMUM', 'RATES_UNAVAILABLE'],
  handle: async (deps, { workspace, mode, id, ids, body: { scenario } }) => {
    const scope = { workspaceId: workspace.id, mode, invoiceId: id, scenario, opId: ids.opId }
    const { terms, state } = await simulatePayment(deps, scope)
    return presentInvoice(terms, snapshotInvoice(deps.catalog, state), deps.urls)
  },
})
