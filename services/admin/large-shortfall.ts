import type { WeighAcceptance } from '#shared/usecases/payments/attach-payment.ts'
import { shortfallNotice } from '#shared/usecases/payments/shortfall-notice.ts'
import { type DecisionContext, deciderOf } from './decider-of.ts'

/**
 * Checks an acceptance with the write that stores it: in live mode an acceptance short by more than the workspace's threshold throws unless
 * this session stepped up, and gets a mail to every owner, which is stored with the acceptance. Null for all others.
 */
export function largeShortfall(ctx: DecisionContext, input: { readonly reason?: string | undefined }): WeighAcceptance {
  const { parts, by } = deciderOf(ctx, input)
  return (accepted) => shortfallNotice(parts, by, accepted)
}
