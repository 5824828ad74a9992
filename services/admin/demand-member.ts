import type { OperatorSession } from '#shared/ports/sessions.ts'
import { lives } from '#shared/usecases/accounts/operator-sessions.ts'
import type { AdminDeps } from './assemble.ts'
import { Refusal } from './refusals.ts'

/** How long a person who was removed, or logged out, may keep a live view or a file: each calls `demandMember` at this interval. */
export const MEMBER_CHECK_MS = 15_000

/** Throws `UNAUTHORIZED` when the session has ended since, `NOT_FOUND` when its person is no longer a member of the workspace. */
export async function demandMember(deps: AdminDeps, session: OperatorSession, workspaceId: string): Promise<void> {
  const [found, member] = await Promise.all([
    deps.sessions.find(session.id),
    deps.memberships.find(workspaceId, session.userId),
  ])
  if (found === null || !lives(found.session, deps.clock.now()))
    throw new Refusal({ code: 'UNAUTHORIZED', message: 'Please log in.' })
  if (member === null) throw new Refusal({ code: 'NOT_FOUND', message: 'Resource not found.' })
}

/** Answers of the store that may be missing in a row: a minute, as long as an election takes at most. */
const UNANSWERED_MAX = 4

/**
 * Calls `end` when `demandMember` refuses, or the store does not answer four times in a row, at whatever its reader does: one that takes no further part would otherwise keep its place and
 * its connection after its session. Returns what stops the watch.
 */
export function watchMember(
  deps: AdminDeps,
  session: OperatorSession,
  workspaceId: string,
  end: () => void,
): () => void {
  let unanswered = 0
  const check = async (): Promise<void> => {
    try {
      await demandMember(deps, session, workspaceId)
      unanswered = 0
    } catch (error) {
      unanswered += 1
      if (error instanceof Refusal || unanswered >= UNANSWERED_MAX) end()
    }
  }
  const timer = setInterval(() => void check(), MEMBER_CHECK_MS)
  return () => clearInterval(timer)
}
