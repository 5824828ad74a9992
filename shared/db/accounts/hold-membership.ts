import { PaymeshError } from '#shared/contracts/errors.ts'
import type { HoldRight } from '#shared/db/audit/acting-member.ts'
import type { Membership } from '#shared/ports/members.ts'
import { MEMBERSHIPS } from './operator-models.ts'

/**
 * The right of a member at the role on which a request was decided. It writes the row of the membership, so that a removal or a change of the
 * role comes before the action, which is then refused with `FORBIDDEN_SCOPE`, or after it.
 */
export function holdMembership({
  workspaceId,
  userId,
  role,
}: Pick<Membership, 'workspaceId' | 'userId' | 'role'>): HoldRight {
  return async (db, session) => {
    const held = await db
      .collection(MEMBERSHIPS)
      .updateOne({ userId, workspaceId, role }, { $inc: { turn: 1 } }, { session })
    if (held.matchedCount === 1) return
    throw new PaymeshError('FORBIDDEN_SCOPE', {
      message: 'Your role in this workspace changed. No changes were made. Reload the page.',
    })
  }
}
