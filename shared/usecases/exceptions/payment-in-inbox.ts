import type { Payment } from '#shared/ports/payments.ts'

/**
 * A payment as an entry in a workspace's inbox shows it. What another workspace holds by now looks like money that nobody holds:
 * entries outlive the time at which the money was still open to several workspaces, and invoices of others are not named.
 */
export function paymentInInbox(payment: Payment, workspaceId: string): Payment {
  if (payment.workspaceId === null || payment.workspaceId === workspaceId) return payment
  return { ...payment, invoiceId: null, workspaceId: null, counted: false, uncountedReason: 'unmatched', late: false }
}
