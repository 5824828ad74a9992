import { paymentListQuery } from '#shared/contracts/http/list-query.ts'
import { paymentResource } from '#shared/contracts/http/payment-resource.ts'
import { confirmedPayment } from '#shared/contracts/openapi/examples/payment.ts'
import { listPayments } from '#shared/usecases/payments/list-payments.ts'
import { cutPage } from '#shared/usecases/requests/list-cursor.ts'
import { defineOperation } from '../define-operation.ts'

/** Transfers of the key mode's invoices, newest first. */
export const listPaymentsOperation = defineOperation({
  method: 'GET',
  path: '/payments',
  operationId: 'listPayments',
  tag: 'Payments',
  summary: 'List payments',
  description: "A page of the transfers for invoices of the key's mode, newest first.",
  scope: 'payments:read',
  query: paymentListQuery,
  success: {
    status: 200,
    description: 'A page of payments.',
    resource: paymentResource,
    envelope: 'PaymentListResponse',
    listMax: 100,
    example: confirmedPayment,
  },
  errors: [],
  handle: async (deps, { workspace, mode, query: { limit, cursor, ...filters } }) => {
    const scope = { list: 'payments', workspaceId: workspace.id, mode, filters }
    const payments = await listPayments(deps, {
      workspaceId: workspace.id,
      mode,
      invoiceId: filters.invoice_id ?? null,
      limit: limit + 1,
      beforeId: cursor === undefined ? null : deps.listCursor.decode(scope, cursor),
    })
    return cutPage(payments, limit, (last) => deps.listCursor.encode(scope, last.id))
  },
})
