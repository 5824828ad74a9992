import { tracked } from '@trpc/server'
import { z } from 'zod'
import { lives } from '#shared/usecases/operator-sessions.ts'
import { CHANGE_KINDS } from '#shared/usecases/ports/change-feed.ts'
import type { OperatorSession } from '#shared/usecases/ports/operators.ts'
import type { AdminDeps } from '../admin-deps.ts'
import { Refused, router, workspaceQuery } from '../trpc.ts'

/** How long a person who was removed, or logged out, may go on listening. */
const MEMBER_CHECK_MS = 15_000
const PLACE_MAX = 80

const signal = z.object({
  kind: z.enum([...CHANGE_KINDS, 'all']),
  /** Empty with `all`. */
  id: z.string(),
  isNew: z.boolean(),
})

export const liveRouter = router({
  /**
   * What to ask again, as it changes. After a cut the page says where it was and is told what it missed, or `all` when that is not
   * known any more. The stream ends with the session or the membership.
   */
  changes: workspaceQuery('viewer')
    .input(z.object({ lastEventId: z.string().max(PLACE_MAX).nullish() }))
    .subscription(async function* ({ ctx, input, signal: cut }) {
      const { workspaceId, mode, lastEventId } = input
      const abort = cut ?? new AbortController().signal
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
      }
    }),
})

async function demandMember(deps: AdminDeps, session: OperatorSession, workspaceId: string): Promise<void> {
  const [stored, member] = await Promise.all([
    deps.sessions.find(session.id),
    deps.memberships.find(workspaceId, session.userId),
  ])
  if (stored === null || !lives(stored, deps.clock.now()))
    throw new Refused({ code: 'UNAUTHORIZED', message: 'Please log in.' })
  if (member === null) throw new Refused({ code: 'NOT_FOUND', message: 'There is no such resource.' })
}
