import { refundNotice, type WeighRefund } from '#shared/usecases/refunds/refund-notice.ts'
import { type DecisionContext, deciderOf } from './decider-of.ts'

/**
 * Checks a refund with the transaction that stores it: in live mode one by which the invoice's refunds exceed the workspace's threshold throws
 * unless this session stepped up and states a reason, and gets a mail to every owner, which is stored with it.
 */
export function largeRefund(ctx: DecisionContext, input: { readonly reason?: string | undefined }): WeighRefund {
  const { parts, by } = deciderOf(ctx, input)
  return (opened) => refundNotice(parts, by, opened)
}
