import type { Ms } from '#shared/domain/invoice/model.ts'
import type { Uses } from '#shared/usecases/uses.ts'

/** Dependencies of finding a rejection. */
export type RejectedMoneyDeps = Uses<'payments' | 'decisions'>

/** Who rejected a payment, and when: that person may have returned it to the customer. */
export interface Rejection {
  readonly by: string
  readonly at: Ms
}

/** The standing rejection of a payment by a person of this workspace; null without one, and for a payment that is unknown here. */
export async function rejectionOf(
  { payments, decisions }: RejectedMoneyDeps,
  { workspaceId, paymentId }: { readonly workspaceId: string; readonly paymentId: string },
): Promise<Rejection | null> {
  const payment = await payments.findById(paymentId)
  const decision = payment === null ? null : await decisions.findRejection(workspaceId, payment.key)
  return decision === null ? null : { by: decision.by.replace(/^user:/, ''), at: decision.at }
}

/** Who rejected a payment and when, in words for the person who wants to apply it. */
export const rejectionText = ({ by, at }: Rejection): string =>
  `${by} rejected this payment at ${new Date(at).toISOString()}. It may have been returned to the customer.`
