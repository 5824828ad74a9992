import type { OperatorSession } from '#shared/ports/sessions.ts'
import { lives } from '#shared/usecases/accounts/operator-sessions.ts'
import type { AdminDeps } from './assemble.ts'
import { Refused } from './refusals.ts'

/** How long a person who was removed, or logged out, may keep a live view or a file: each calls `demandMember` at this interval. */
export const MEMBER_CHECK_MS = 15_000

/** Throws `UNAUTHORIZED` when the session has ended since, `NOT_FOUND` when its person is no longer a member of the workspace. */
export async function demandMember(deps: AdminDeps, session: OperatorSession, workspaceId: string): Promise<void> {
  const [found, member] = await Promise.all([
    deps.sessions.find(session.id),
    deps.memberships.find(workspaceId, session.userId),
  ])
  if (found === null || !lives(found.session, deps.clock.now()))
    throw new Refused({ code: 'UNAUTHORIZED', message: 'Please log in.' })
  if (member === null) throw new Refused({ code: 'NOT_FOUND', message: 'Resource not found.' })
}

/** Passes parts on as long as `demandMember` lets it, and throws what that throws: a slow reader does not outlive the session. */
export async function* whileMember<T>(
  deps: AdminDeps,
  session: OperatorSession,
  workspaceId: string,
  parts: AsyncIterable<T>,
): AsyncGenerator<T> {
  let checkedAt = deps.clock.now()
  for await (const part of parts) {
    if (deps.clock.now() - checkedAt >= MEMBER_CHECK_MS) {
      await demandMember(deps, session, workspaceId)
      checkedAt = deps.clock.now()
    }
    yield part
  }
}

/**
 * Calls `end` when `demandMember` throws, at whatever its reader does: one that takes no further part would otherwise keep its place and
 * its connection after its session. Returns what stops the watch.
 */
export function watchMember(
  deps: AdminDeps,
  session: OperatorSession,
  workspaceId: string,
  end: () => void,
): () => void {
  const timer = setInterval(() => void demandMember(deps, session, workspaceId).catch(end), MEMBER_CHECK_MS)
  return () => clearInterval(timer)
}
