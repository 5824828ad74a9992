import { AsyncLocalStorage } from 'node:async_hooks'
import type mongoose from 'mongoose'
import { PaymeshError } from '#shared/contracts/errors.ts'
import { MEMBERSHIPS } from '#shared/db/accounts/operator-models.ts'
import type { Database } from '#shared/db/connection/connect.ts'
import type { Membership } from '#shared/ports/members.ts'

/** The membership on which a request of a person was decided. */
export type ActingMember = Pick<Membership, 'workspaceId' | 'userId' | 'role'>

const acting = new AsyncLocalStorage<ActingMember>()

/** Binds every audited action within `work` to this membership: none is stored once the person was removed or has another role. */
export const whileActing = <T>(member: ActingMember, work: () => Promise<T>): Promise<T> => acting.run(member, work)

/**
 * Writes the row of the acting membership in the transaction of an audited action, so that a removal or a change of the role comes before the
 * action, which is then refused, or after it. Throws `FORBIDDEN_SCOPE`. Changes nothing where no member acts.
 */
export async function holdMembership(db: Database, session: mongoose.mongo.ClientSession): Promise<void> {
  const member = acting.getStore()
  if (member === undefined) return
  const { workspaceId, userId, role } = member
  const held = await db
    .collection(MEMBERSHIPS)
    .updateOne({ userId, workspaceId, role }, { $inc: { turn: 1 } }, { session })
  if (held.matchedCount === 1) return
  throw new PaymeshError('FORBIDDEN_SCOPE', {
    message: 'Your role in this workspace changed. No changes were made. Reload the page.',
  })
}
