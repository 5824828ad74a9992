import { audited } from '#shared/db/audit/audited.ts'
import type { Database } from '#shared/db/connection/connect.ts'
import { toDate } from '#shared/db/connection/dates.ts'
import { duplicateKeyFields } from '#shared/db/connection/duplicate-key.ts'
import type { Ms } from '#shared/domain/invoice/model.ts'
import type { AuditWrite } from '#shared/ports/audit.ts'
import { type Acceptance, INVITER_ROLE } from '#shared/ports/invitations.ts'
import type { ActingSession } from '#shared/ports/users.ts'
import { addMember, membershipId } from './membership-repository.ts'
import { INVITATIONS, type Invitation, MEMBERSHIPS, USERS, type User } from './operator-models.ts'
import { isLiving } from './security-epoch.ts'

const OPEN_LISTED_MAX = 200

/** Invitations on MongoDB. */
export function createInvitationRepository(db: Database) {
  const invitations = db.collection(INVITATIONS)
  return {
    /** False when this action was done before; the stored one is then unchanged. */
    insert: async (invitation: Invitation, auditWrite: AuditWrite): Promise<boolean> =>
      await audited(db, auditWrite, async (session) => {
        const { _id, ...rest } = INVITATIONS.toDocument(invitation)
        const added = await invitations.updateOne({ _id }, { $setOnInsert: rest }, { upsert: true, session })
        return added.upsertedCount === 1
      }),
    findById: async (id: string): Promise<Invitation | null> =>
      INVITATIONS.toRecord(await invitations.findOne({ _id: id })),
    findByTokenHash: async (tokenHash: string): Promise<Invitation | null> =>
      INVITATIONS.toRecord(await invitations.findOne({ tokenHash })),
    /** Open ones, newest first. */
    listOpen: async (workspaceId: string, at: Ms): Promise<readonly Invitation[]> =>
      (
        await invitations
          .find({ workspaceId, closed: null, expiresAt: { $gt: toDate(at) } })
          .sort({ createdAt: -1 })
          .limit(OPEN_LISTED_MAX)
          .toArray()
      ).map(INVITATIONS.toRecord),
    withdraw: async (id: string, at: Ms, auditWrite: AuditWrite): Promise<boolean> =>
      await audited(db, auditWrite, async (session) => {
        const change = { $set: { closed: { at: toDate(at), as: 'withdrawn' as const } } }
        return (await invitations.updateOne({ _id: id, closed: null }, change, { session })).matchedCount === 1
      }),
    /**
     * Closes the invitation and adds the member, who is a new user or acts in a session, while `inviterId` may invite: a concurrent removal of
     * the inviter is either before or after it.
     */
    accept: async (
      { id, workspaceId, role, inviterId }: Invitation,
      { member, at }: { readonly member: User | ActingSession; readonly at: Ms },
      auditWrite: AuditWrite,
    ): Promise<Acceptance> => {
      let outcome: Acceptance = 'closed'
      try {
        await audited(db, auditWrite, async (session) => {
          outcome = 'closed'
          const open = { _id: id, closed: null, expiresAt: { $gt: toDate(at) } }
          const change = { $set: { closed: { at: toDate(at), as: 'accepted' as const } } }
          if ((await invitations.updateOne(open, change, { session })).matchedCount === 0) {
            const stored = await invitations.findOne({ _id: id }, { session })
            if (stored?.closed?.as === 'void') outcome = 'void'
            return false
          }
          outcome = 'void'
          // Written, not only read: a concurrent removal of the inviter conflicts with it.
          const inviter = { _id: membershipId({ workspaceId, userId: inviterId }), role: INVITER_ROLE }
          const held = await db.collection(MEMBERSHIPS).updateOne(inviter, { $inc: { turn: 1 } }, { session })
          if (held.matchedCount === 0) return false
          outcome = 'logged_out'
          if ('passwordHash' in member) await db.collection(USERS).insertOne(USERS.toDocument(member), { session })
          else if (!(await isLiving(db, member, at, session))) return false
          const userId = 'passwordHash' in member ? member.id : member.userId
          await addMember(db, { workspaceId, userId, role, since: at }, session)
          outcome = 'accepted'
          return true
        })
        return outcome
      } catch (error) {
        // An account with the address was created concurrently: nothing of this was stored.
        if (duplicateKeyFields(error) !== null) return 'closed'
        throw error
      }
    },
  }
}
