import { z } from 'zod'
import { ASSET_IDS } from '#shared/domain/enumerations.ts'
import { openRefundRequest, recordRefund, withdrawRefund } from '#shared/usecases/refunds/manage-refunds.ts'
import { deedOf } from '../deed.ts'
import { derivedUuid } from '../derived-uuid.ts'
import { router, workspaceDeed } from '../trpc.ts'
import { refundToWire, refundWire } from '../wire/refund-wire.ts'

const about = z.object({ refundId: z.uuid() })

/** Records of money given back. No key and no transfer: operators send from their own wallets. */
export const refundsRouter = router({
  openRefund: workspaceDeed('support')
    .input(
      z.object({
        id: z.uuid(),
        /** Units of the asset. */
        amount: z.string().max(80),
        /** What is given back; null = what the invoice was paid in. */
        asset: z.enum(ASSET_IDS).nullable().default(null),
      }),
    )
    .output(refundWire)
    .mutation(async ({ ctx, input }) => {
      const { money } = ctx.deps
      const { workspaceId, mode, id, amount, asset } = input
      const deed = deedOf(ctx, input)
      const opId = derivedUuid(workspaceId, mode, 'refund', deed.opId)
      const wish = { workspaceId, mode, invoiceId: id, asset, amount, ...deed, opId }
      return refundToWire((await openRefundRequest(money, wish)).refund, money)
    }),

  recordRefund: workspaceDeed('support')
    .input(about.extend({ txHash: z.string().trim().min(1).max(200) }))
    .output(refundWire)
    .mutation(async ({ ctx, input }) => {
      const { workspaceId, mode, refundId, txHash } = input
      const { money } = ctx.deps
      const refund = await recordRefund(money, { workspaceId, mode, refundId, txHash, ...deedOf(ctx, input) })
      return refundToWire(refund, money)
    }),

  withdrawRefund: workspaceDeed('support')
    .input(about)
    .output(refundWire)
    .mutation(async ({ ctx, input }) => {
      const { workspaceId, mode, refundId } = input
      const { money } = ctx.deps
      return refundToWire(await withdrawRefund(money, { workspaceId, mode, refundId, ...deedOf(ctx, input) }), money)
    }),
})
