import { tracked } from '@trpc/server'
import { z } from 'zod'
import { boundedText } from '#shared/contracts/bounded-text.ts'
import { CHANGE_KINDS } from '#shared/ports/change-feed.ts'
import { demandMember, MEMBER_CHECK_MS } from '../demand-member.ts'
import { router, workspaceQuery } from '../trpc.ts'

const PLACE_MAX = 80

const signal = z.object({
  kind: z.enum([...CHANGE_KINDS, 'all', 'none']),
  /** Empty with `all` and `none`. */
  id: z.string(),
  isNew: z.boolean(),
})

export const liveRouter = router({
  /**
   * Changes to read again, as they happen. After an interruption the page sends its position and receives the changes it missed, or `all` when they are
   * no longer known. The stream ends with the session or the membership.
   */
  changes: workspaceQuery('viewer')
    .input(z.object({ lastEventId: boundedText(PLACE_MAX).nullish() }))
    .subscription(async function* ({ ctx, input, signal: cut }) {
      const { workspaceId, mode, lastEventId } = input
      const abort = cut ?? new AbortController().signal
      const leaveSlot = ctx.deps.streams.enter(ctx.session.userId)
      const follower = ctx.deps.live.follow({ workspaceId, mode, lastPlace: lastEventId ?? null })
      try {
        let checkedAt = ctx.deps.clock.now()
        while (!abort.aborted) {
          const event = await follower.next(MEMBER_CHECK_MS, abort)
          if (ctx.deps.clock.now() - checkedAt >= MEMBER_CHECK_MS) {
            await demandMember(ctx.deps, ctx.session, workspaceId)
            checkedAt = ctx.deps.clock.now()
          }
          if (event !== null) yield tracked(event.place, signal.parse(event.signal))
        }
      } finally {
        follower.leave()
        leaveSlot()
      }
    }),
})
