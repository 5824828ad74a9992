import { PaymeshError } from '#shared/contracts/errors.ts'
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
} from '#shared/contracts/openapi/examples/invoice.ts'
import type { Invoice } from '#shared/ports/invoices.ts'
import { cancelInvoice } from '#shared/usecases/invoices/cancel-invoice.ts'
import { createInvoiceOnce } from '#shared/usecases/invoices/create-invoice.ts'
import { presentInvoice, snapshotInvoice } from '#shared/usecases/invoices/present-invoice.ts'
import { simulatePayment } from '#shared/usecases/invoices/simulate-payment.ts'
import { readPage } from '#shared/usecases/requests/list-cursor.ts'
import type { ApiDeps } from '../api-deps.ts'
import { defineOperation } from '../define-operation.ts'

const INVOICE = { resource: invoiceResource, envelope: 'InvoiceResponse', listMax: null, example: pendingInvoice }

/** Invoices, in the order of the reference. */
export const invoiceOperations = [
  /** The key mode's invoices, newest first. */
  defineOperation({
    method: 'GET',
    path: '/invoices',
    operationId: 'listInvoices',
    tag: 'Invoices',
    summary: 'List invoices',
    description: "A page of the invoices of the key's mode, newest first.",
    scope: 'invoices:read',
    query: invoiceListQuery,
    success: {
      ...INVOICE,
      status: 200,
      description: 'A page of invoices.',
      envelope: 'InvoiceListResponse',
      listMax: 100,
    },
    handle: async (deps, { workspace: { id: workspaceId }, mode, query: { limit, cursor, ...filters } }) => {
      const scope = { list: 'invoices', workspaceId, mode, filters }
      const by = {
        status: filters.status ?? null,
        orderId: filters.order_id ?? null,
        createdAfter: filters.created_after ?? null,
        createdBefore: filters.created_before ?? null,
      }
      return await readPage(deps, scope, { limit, cursor }, async (page) => {
        const found = await deps.invoices.list({ workspaceId, mode, ...by, ...page })
        return found.map((invoice) => present(deps, invoice))
      })
    },
  }),

  /** 201 with the invoice. Its idempotency key is stored in the invoice, so that one write stores both. */
  defineOperation({
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
    // Live and test differ in the allowed hosts of return URLs; the document shows the stricter one.
    body: { schema: invoiceCreateBody.live, testSchema: invoiceCreateBody.test, example: invoiceCreateExample },
    success: { ...INVOICE, status: 201, description: 'The new invoice.' },
    errors: [
      'UNSUPPORTED_ASSET',
      'NO_WALLET_FOR_ASSET',
      'AMOUNT_BELOW_MINIMUM',
      'PLAN_LIMIT_REACHED',
      'RATES_UNAVAILABLE',
    ],
    respond: (deps, { once, requestId, workspace, mode }, read) =>
      createInvoiceOnce(deps, { once, requestId, workspace, mode, read }),
  }),

  /** The current invoice. */
  defineOperation({
    method: 'GET',
    path: '/invoices/{id}',
    operationId: 'getInvoice',
    tag: 'Invoices',
    summary: 'Read an invoice',
    description: 'The current invoice, with the amounts received and confirmed so far.',
    scope: 'invoices:read',
    success: { ...INVOICE, status: 200, description: 'The invoice.' },
    handle: async (deps, { workspace, mode, id }) => {
      const invoice = await deps.invoices.findInWorkspace(workspace.id, mode, id)
      if (invoice === null) throw new PaymeshError('NOT_FOUND')
      return present(deps, invoice)
    },
  }),

  /** 409 when the invoice has received money or has ended. */
  defineOperation({
    method: 'POST',
    path: '/invoices/{id}/cancel',
    operationId: 'cancelInvoice',
    tag: 'Invoices',
    summary: 'Cancel an invoice',
    description:
      'Ends an invoice in `new`, `pending` or `expired` that has received nothing. Other invoices are refused with ' +
      '`INVALID_STATE`.',
    scope: 'invoices:write',
    success: { ...INVOICE, status: 200, description: 'The cancelled invoice.', example: cancelledInvoice },
    errors: ['INVALID_STATE'],
    handle: async (deps, { workspace, mode, id, ids }) => {
      const scope = { workspaceId: workspace.id, mode, invoiceId: id, opId: ids.opId }
      return present(deps, await cancelInvoice(deps, scope))
    },
  }),

  /** Test keys only. The invoice after the scenario. */
  defineOperation({
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
    success: { ...INVOICE, status: 200, description: 'The invoice afterwards.', example: simulatedInvoice },
    errors: ['INVALID_STATE', 'NO_WALLET_FOR_ASSET', 'AMOUNT_BELOW_MINIMUM', 'RATES_UNAVAILABLE'],
    handle: async (deps, { workspace, mode, id, ids, body: { scenario } }) => {
      const scope = { workspaceId: workspace.id, mode, invoiceId: id, scenario, opId: ids.opId }
      return present(deps, await simulatePayment(deps, scope))
    },
  }),
]

const present = ({ catalog, urls }: ApiDeps, { terms, state }: Pick<Invoice, 'terms' | 'state'>) =>
  presentInvoice(terms, snapshotInvoice(catalog, state), urls)
