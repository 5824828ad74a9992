import { setTimeout as pause } from 'node:timers/promises'
import { z } from 'zod'
import { PaymeshError } from '#shared/contracts/errors.ts'
import type { OperatorSession } from '#shared/usecases/ports/operators.ts'
import type { AdminDeps } from '../admin-deps.ts'
import { demandMember, MEMBER_CHECK_MS } from '../demand-member.ts'
import { LIVE_VIEW_MS_MAX, workspaceQuery } from '../trpc.ts'
import { exceptionInput } from '../wire/exception-wire.ts'

/** How often somebody who is there says so, and for how long that holds: a process that was killed says nothing more. */
const KEEP_MS = 10_000
const STALE_MS = 30_000
/** How soon a page hears of somebody who came or left. */
const LOOK_MS = 3_000
/** A stream that ended this close to its longest life is taken for one that was cut for its age. */
const AGE_SLACK_MS = 5_000

const people = z.array(z.string())

/**
 * Names of the other people who have an entry of the inbox open, at once and whenever they change; following it is having it open.
 * A hint that locks nothing. The stream ends with the session or the membership.
 */
export const viewersOfException = workspaceQuery('viewer')
  .input(exceptionInput)
  .subscription(async ({ ctx, input, signal: cut }) => {
    const { deps, session } = ctx
    const { workspaceId, mode, id: exceptionId } = input
    if ((await deps.money.desk.find(workspaceId, mode, exceptionId)) === null) throw new PaymeshError('NOT_FOUND')
    return follow(deps, session, { workspaceId, exceptionId, abort: cut ?? new AbortController().signal })
  })

async function* follow(
  deps: AdminDeps,
  session: OperatorSession,
  view: { readonly workspaceId: string; readonly exceptionId: string; readonly abort: AbortSignal },
) {
  const { clock, random, money } = deps
  const { workspaceId, exceptionId, abort } = view
  const { userId, name } = session
  const viewer = { id: random.uuid(), exceptionId, workspaceId, userId, name }
  const begunAt = clock.now()
  let keptAt: number | null = null
  let checkedAt = begunAt
  let told: string | null = null
  const leaveSlot = deps.streams.enter(userId)
  try {
    while (!abort.aborted) {
      const now = clock.now()
      if (now - checkedAt >= MEMBER_CHECK_MS) {
        await demandMember(deps, session, workspaceId)
        checkedAt = now
      }
      if (keptAt === null || now - keptAt >= KEEP_MS) {
        await money.exceptionViewers.keep(viewer, now)
        keptAt = now
      }
      const others = await money.exceptionViewers.listOthers({ ...viewer, seenAfter: now - STALE_MS })
      const words = JSON.stringify(others)
      if (words !== told) yield people.parse(others)
      told = words
      await pause(LOOK_MS, undefined, { signal: abort }).catch(() => undefined)
    }
  } finally {
    leaveSlot()
    // Cut for its age, the page is back in seconds: the others would see this person leave and return. What is left goes stale.
    const isCutForAge = clock.now() - begunAt >= LIVE_VIEW_MS_MAX - AGE_SLACK_MS
    if (!isCutForAge) await money.exceptionViewers.leave(viewer.id).catch(() => undefined)
  }
}
