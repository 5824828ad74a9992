import type { PaymentResource } from '#shared/contracts/http/payment-resource.ts'
import type { Payment, PaymentListQuery } from '#shared/ports/payments.ts'
import { presentPayment } from '#shared/usecases/invoices/present-invoice.ts'
import type { Uses } from '#shared/usecases/uses.ts'

/** Dependencies of listing payments. */
export type ListPaymentsDeps = Uses<'payments' | 'cursors' | 'catalog'>

/**
 * Public payment records of a workspace and mode, newest first. Confirmations count from the committed scan
 * position, never from a node's head; a confirmed payment shows at least the required number.
 */
export async function listPayments(
  deps: ListPaymentsDeps,
  query: PaymentListQuery,
): Promise<readonly PaymentResource[]> {
  const payments = await deps.payments.list(query)
  const networks = new Set(payments.filter(({ block }) => block !== null).map(({ network }) => network))
  const heights = new Map<string, number>()
  for (const network of networks) {
    const cursor = await deps.cursors.find(query.mode, network)
    if (cursor !== null) heights.set(network, cursor.height)
  }
  return payments.flatMap((payment) => present(deps, payment, heights.get(payment.network) ?? null))
}

function present(deps: ListPaymentsDeps, payment: Payment, height: number | null): PaymentResource[] {
  if (payment.asset === null || payment.invoiceId === null) return []
  const { network, mode, txHash } = payment
  const record = presentPayment(payment, {
    asset: deps.catalog.asset(payment.asset),
    explorerUrl: txHash === null ? null : deps.catalog.explorerTxUrl(network, mode, txHash),
    confirmations: confirmationsOf(payment, height),
  })
  return [record]
}

function confirmationsOf(payment: Payment, height: number | null): number {
  if (payment.block === null) return 0
  const counted = height === null ? 1 : Math.max(1, height - payment.block.height + 1)
  return payment.state === 'confirmed' ? Math.max(counted, payment.requiredConfirmations) : counted
}
