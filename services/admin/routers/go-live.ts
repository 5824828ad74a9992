import { z } from 'zod'
import { boundedText } from '#shared/contracts/bounded-text.ts'
import { goLiveReport } from '#shared/contracts/go-live-report.ts'
import { ASSET_IDS } from '#shared/domain/enumerations.ts'
import { readGoLive } from '#shared/usecases/golive/read-go-live.ts'
import {
  confirmAddress,
  sendTestMail,
  startGoLivePayment,
  stateMasterKey,
} from '#shared/usecases/golive/state-go-live.ts'
import { actionOf } from '../action.ts'
import { router, workspaceMutation, workspaceQuery } from '../trpc.ts'

/** The guided check before real money arrives. */
export const goLiveRouter = router({
  /** Computes every item now; asks each node of the workspace's networks for its position. */
  read: workspaceQuery('admin')
    .output(goLiveReport)
    .query(({ ctx, input: { workspaceId, mode } }) => readGoLive(ctx.deps.preparing, { workspaceId, mode })),

  /** Compares an address that the person reads in their own wallet. */
  confirmAddress: workspaceMutation('admin', { worksWhile: 'restricted' })
    .input(z.object({ walletId: z.uuid(), address: boundedText(120).min(1) }))
    .output(z.object({ same: z.boolean() }))
    .mutation(async ({ ctx, input }) => {
      const { workspaceId, mode, walletId, address } = input
      const entered = { walletId, address, ...actionOf(ctx, input) }
      return { same: await confirmAddress(ctx.deps.preparing, { workspaceId, mode }, entered) }
    }),

  /** States that the master key is kept at another place as well. */
  stateMasterKey: workspaceMutation('owner', { worksWhile: 'restricted', stepUp: 'live' })
    .output(z.object({ stated: z.literal(true) }))
    .mutation(async ({ ctx, input }) => {
      const { workspaceId, mode } = input
      await stateMasterKey(ctx.deps.preparing, { workspaceId, mode }, actionOf(ctx, input))
      return { stated: true }
    }),

  sendMail: workspaceMutation('admin', { worksWhile: 'restricted' })
    .output(z.object({ queued: z.literal(true) }))
    .mutation(async ({ ctx, input }) => {
      const { workspaceId, mode } = input
      await sendTestMail(ctx.deps.preparing, { workspaceId, mode }, actionOf(ctx, input))
      return { queued: true }
    }),

  /** Creates a real invoice for a small payment of one's own. */
  startPayment: workspaceMutation('admin', { worksWhile: 'active' })
    .input(z.object({ asset: z.enum(ASSET_IDS), amount: boundedText(20) }))
    .output(z.object({ invoiceId: z.string() }))
    .mutation(async ({ ctx, input }) => {
      const { workspaceId, mode, asset, amount } = input
      const request = { asset, amount, requestId: ctx.requestId, ...actionOf(ctx, input) }
      return await startGoLivePayment(ctx.deps.preparing, { workspaceId, mode }, request)
    }),
})
