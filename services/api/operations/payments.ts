import { paymentListQuery } from '#shared/contracts/http/list-query.ts'
import { paymentResource } from '#shared/contracts/http/payment-resource.ts'
import { confirmedPayment } from '#shared/contracts/openapi/examples/payment.ts'
import { listPayments } from '#shared/usecases/payments/list-payments.ts'
import { readPage } from '#shared/usecases/requests/list-cursor.ts'
import { defineOperation } from '../define-operation.ts'

/** Payments. */
export const paymentOperations = [
  /** Transfers of the key mode's invoices, newest first. */
  defineOperation({
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
    handle: (deps, { workspace: { id: workspaceId }, mode, query: { limit, cursor, ...filters } }) => {
      const scope = { list: 'payments', workspaceId, mode, filters }
      const invoiceId = filters.invoice_id ?? null
      return readPage(deps, scope, { limit, cursor }, (page) =>
        listPayments(deps, { workspaceId, mode, invoiceId, ...page }),
      )
    },
  }),
]
