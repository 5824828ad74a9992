import type { Payment } from '#shared/ports/payments.ts'

/**
 * A payment as a workspace's exception shows it. A payment that belongs to another workspace by now is shown as unmatched:
 * an exception may outlive the time when several workspaces could claim the money, and invoices of others must not be named.
 */
export function paymentInInbox(payment: Payment, workspaceId: string): Payment {
  if (payment.workspaceId === null || payment.workspaceId === workspaceId) return payment
  return { ...payment, invoiceId: null, workspaceId: null, counted: false, uncountedReason: 'unmatched', late: false }
}
