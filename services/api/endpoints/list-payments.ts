import { paymentListQuery } from '#shared/contracts/http/list-query.ts'
import { validate } from '#shared/contracts/http/validate.ts'
import { cutPage, type ListCursor } from '#shared/usecases/list-cursor.ts'
import { type ListPaymentsDeps, listPayments as listRecords } from '#shared/usecases/list-payments.ts'
import { respondList } from '../respond.ts'
import type { Handler } from '../route.ts'

/** `GET /payments`: 200 with a page of the transfers of the key mode's invoices, newest first. */
export function listPayments(deps: ListPaymentsDeps & { readonly listCursor: ListCursor }): Handler {
  return async (context) => {
    const query = validate(paymentListQuery, context.query)
    const workspaceId = context.workspace.id
    const { mode } = context
    const scope = { list: 'payments', workspaceId, mode }
    const records = await listRecords(deps, {
      workspaceId,
      mode,
      invoiceId: query.invoice_id ?? null,
      limit: query.limit + 1,
      beforeId: query.cursor === undefined ? null : deps.listCursor.decode(scope, query.cursor),
    })
    const { page, meta } = cutPage(records, query.limit, (last) => deps.listCursor.encode(scope, last.id))
    return respondList(context, page, meta)
  }
}
