import { z } from 'zod'
import { boundedText, trimmedText } from '#shared/contracts/bounded-text.ts'
import { ASSET_IDS } from '#shared/domain/enumerations.ts'
import { openRefundRequest, recordRefund, withdrawRefund } from '#shared/usecases/refunds/manage-refunds.ts'
import { refundNotice, type WeighRefund } from '#shared/usecases/refunds/refund-notice.ts'
import { derivedUuid } from '#shared/usecases/requests/begin-operation.ts'
import { actionOf } from '../action.ts'
import { type DecisionContext, deciderOf } from '../decider-of.ts'
import { router, workspaceMutation } from '../trpc.ts'
import { refundToWire, refundWire } from '../wire/refund-wire.ts'

const about = z.object({ refundId: z.uuid() })

/** Records of refunds. Without keys or transfers: operators send from their own wallets. */
export const refundsRouter = router({
  openRefund: workspaceMutation('support', { worksWhile: 'restricted', stepUp: 'largeSum' })
    .input(
      z.object({
        id: z.uuid(),
        /** Units of the asset. */
        amount: boundedText(80),
        /** The asset refunded; null = the asset in which the invoice was paid. */
        asset: z.enum(ASSET_IDS).nullable().default(null),
        /** Where it goes; null = the customer is asked by link. */
        address: trimmedText(120).min(1).nullable().default(null),
      }),
    )
    .output(refundWire)
    .mutation(async ({ ctx, input }) => {
      const { money } = ctx.deps
      const { workspaceId, mode, id, amount, asset, address } = input
      const action = actionOf(ctx, input)
      const opId = derivedUuid(workspaceId, mode, 'refund', action.opId)
      const weigh = largeRefund(ctx, input)
      const request = { workspaceId, mode, invoiceId: id, asset, amount, address, ...action, opId, weigh }
      return refundToWire(await openRefundRequest(money, request), money)
    }),

  recordRefund: workspaceMutation('support', { worksWhile: 'suspended' })
    .input(about.extend({ txHash: trimmedText(200).min(1) }))
    .output(refundWire)
    .mutation(async ({ ctx, input }) => {
      const { workspaceId, mode, refundId, txHash } = input
      const { money } = ctx.deps
      const refund = await recordRefund(money, { workspaceId, mode, refundId, txHash, ...actionOf(ctx, input) })
      return refundToWire(refund, money)
    }),

  withdrawRefund: workspaceMutation('support', { worksWhile: 'suspended' })
    .input(about)
    .output(refundWire)
    .mutation(async ({ ctx, input }) => {
      const { workspaceId, mode, refundId } = input
      const { money } = ctx.deps
      return refundToWire(await withdrawRefund(money, { workspaceId, mode, refundId, ...actionOf(ctx, input) }), money)
    }),
})

/**
 * Checks a refund with the transaction that stores it: in live mode one by which the invoice's refunds exceed the workspace's threshold throws
 * unless this session stepped up and states a reason, and gets a mail to every owner, which is stored with it.
 */
function largeRefund(ctx: DecisionContext, input: { readonly reason?: string | undefined }): WeighRefund {
  const { parts, by } = deciderOf(ctx, input)
  return (opened) => refundNotice(parts, by, opened)
}
