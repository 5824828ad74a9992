import { invoiceCreateBody } from '#shared/contracts/http/invoice-create.ts'
import { invoiceResource } from '#shared/contracts/http/invoice-resource.ts'
import { invoiceListQuery } from '#shared/contracts/http/list-query.ts'
import { simulateBody } from '#shared/contracts/http/simulate-request.ts'
import {
  cancelledInvoice,
  invoiceCreateExample,
  pendingInvoice,
  simulatedInvoice,
  simulateExample,
} from './examples/invoice.ts'
import type { Operation } from './operation.ts'

const oneInvoice = { resource: invoiceResource, envelope: 'InvoiceResponse', listMax: null } as const

/** Operations on invoices, the simulation included. */
export const INVOICE_OPERATIONS: readonly Operation[] = [
  {
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
  },
  {
    method: 'POST',
    path: '/invoices',
    operationId: 'createInvoice',
    tag: 'Invoices',
    summary: 'Create an invoice',
    description:
      'Prices something in fiat. Send the payer to `urls.checkout`, or give `asset` to lock the currency at once: the ' +
      'response then already carries the address and the exact crypto amount.\n\nWithout `asset` no rate is needed and ' +
      'the payer chooses on the checkout page.',
    scope: 'invoices:write',
    restricted: true,
    // Live and test differ in the hosts that return URLs may have; the document shows the stricter one.
    body: { schema: invoiceCreateBody.live, example: invoiceCreateExample },
    success: { status: 201, description: 'The new invoice.', ...oneInvoice, example: pendingInvoice },
    errors: [
      'UNSUPPORTED_ASSET',
      'NO_WALLET_FOR_ASSET',
      'AMOUNT_BELOW_MINIMUM',
      'PLAN_LIMIT_REACHED',
      'RATES_UNAVAILABLE',
    ],
  },
  {
    method: 'GET',
    path: '/invoices/{id}',
    operationId: 'getInvoice',
    tag: 'Invoices',
    summary: 'Read an invoice',
    description: 'The invoice as it is now, with what was received and confirmed so far.',
    scope: 'invoices:read',
    success: { status: 200, description: 'The invoice.', ...oneInvoice, example: pendingInvoice },
    errors: [],
  },
  {
    method: 'POST',
    path: '/invoices/{id}/cancel',
    operationId: 'cancelInvoice',
    tag: 'Invoices',
    summary: 'Cancel an invoice',
    description:
      'Ends an invoice in `new`, `pending` or `expired` that has received nothing. Any other one is refused with ' +
      '`INVALID_STATE`.',
    scope: 'invoices:write',
    success: { status: 200, description: 'The cancelled invoice.', ...oneInvoice, example: cancelledInvoice },
    errors: ['INVALID_STATE'],
  },
  {
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
    success: { status: 200, description: 'The invoice afterwards.', ...oneInvoice, example: simulatedInvoice },
    errors: ['INVALID_STATE', 'NO_WALLET_FOR_ASSET', 'AMOUNT_BELOW_MINIMUM', 'RATES_UNAVAILABLE'],
  },
]
