import { invoiceCreateBody } from '#shared/contracts/http/invoice-create.ts'
import { invoiceResource } from '#shared/contracts/http/invoice-resource.ts'
import { invoiceCreateExample, pendingInvoice } from '#shared/contracts/openapi/examples/invoice.ts'
import type { InvoiceIdempotency } from '#shared/ports/invoices.ts'
import { createInvoice } from '#shared/usecases/invoices/create-invoice.ts'
import { createInvoiceOnce, createInvoiceWithoutKey } from '#shared/usecases/invoices/create-invoice-once.ts'
import { defineOperation } from '../define-operation.ts'

/** 201 with the invoice. Its idempotency key is stored in the invoice, so that one write stores both. */
export const createInvoiceOperation = defineOperation({
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
  success: {
    status: 201,
    description: 'The new invoice.',
    resource: invoiceResource,
    envelope: 'InvoiceResponse',
    listMax: null,
    example: pendingInvoice,
  },
  errors: [
    'UNSUPPORTED_ASSET',
    'NO_WALLET_FOR_ASSET',
    'AMOUNT_BELOW_MINIMUM',
    'PLAN_LIMIT_REACHED',
    'RATES_UNAVAILABLE',
  ],
  respond: (deps, context, read) => {
    const { once, requestId, workspace, mode } = context
    const create = async (idempotency: InvoiceIdempotency | null) => {
      const { body } = await read()
      return createInvoice(deps, { workspace, mode, body, source: 'api', idempotency })
    }
    if (once === null) return createInvoiceWithoutKey(deps, () => create(null), requestId)
    const { key, fingerprint, scope, busy } = once
    const guard = { key, fingerprint, requestId, at: deps.clock.now() }
    return createInvoiceOnce(deps, { workspaceId: workspace.id, mode, scope, guard, busy, create: () => create(guard) })
  },
})
