import { paymentListQuery } from '#shared/contracts/http/list-query.ts'
import { validate } from '#shared/contracts/http/validate.ts'
import { cutPage, type ListCursor } from '#shared/usecases/list-cursor.ts'
import { type ListPaymentsDeps, listPayments as listRecords } from '#shared/usecases/list-payments.ts'
import { respondList } from '../respond.ts'
import type { Handler } from '../route.ts'

/** `GET /payments`: 200 with a page of the transfers of the key mode's invoices, newest first. */
export function listPayments(deps: ListPaymentsDeps & { readonly listCursor: ListCursor }): Handler {
  return async (context) => {
    const { limit, cursor, ...filters } = validate(paymentListQuery, context.query)
    const workspaceId = context.workspace.id
    const { mode } = context
    const scope = { list: 'payments', workspaceId, mode, filters }
    const records = await listRecords(deps, {
      workspaceId,
      mode,
      invoiceId: filters.invoice_id ?? null,
      limit: limit + 1,
      beforeId: cursor === undefined ? null : deps.listCursor.decode(scope, cursor),
    })
    const { page, meta } = cutPage(records, limit, (last) => deps.listCursor.encode(scope, last.id))
    return respondList(context, page, meta)
  }
}
