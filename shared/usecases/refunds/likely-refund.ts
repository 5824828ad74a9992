import { suggestRefund } from '#shared/domain/invoice/suggest-refund.ts'
import { type Invoice, ledgerKeys } from '#shared/ports/invoices.ts'
import type { Uses } from '#shared/usecases/uses.ts'

/** `suggestRefund` of a stored invoice, from its payments and refunds of now. */
export async function likelyRefund(deps: Uses<'payments' | 'refunds'>, invoice: Invoice): Promise<bigint> {
  const { id } = invoice.terms
  const [payments, refunds] = await Promise.all([
    deps.payments.listShown(id, ledgerKeys(invoice)),
    deps.refunds.listByInvoice(id),
  ])
  return suggestRefund(invoice.state, payments, refunds)
}
