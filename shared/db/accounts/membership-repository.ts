import type mongoose from 'mongoose'
import { PaymeshError } from '#shared/contracts/errors.ts'
import { audited, type HoldRight } from '#shared/db/audit/audited.ts'
import type { Database } from '#shared/db/connection/connect.ts'
import { toDate } from '#shared/db/connection/dates.ts'
import type { AuditWrite } from '#shared/ports/audit.ts'
import { INVITER_ROLE } from '#shared/ports/invitations.ts'
import type { Membership, MembershipChange } from '#shared/ports/members.ts'
import type { Role } from '#shared/ports/users.ts'
import { INVITATIONS, MEMBERSHIPS, type MembershipDocument, USERS } from './operator-models.ts'
import { raiseEpoch } from './security-epoch.ts'

const MEMBERS_LISTED_MAX = 1_000

/** Memberships on MongoDB. */
export function createMembershipRepository(db: Database) {
  const memberships = db.collection(MEMBERSHIPS)
  return {
    rolesOf: async (userId: string): Promise<ReadonlyMap<string, Role>> =>
      new Map((await memberships.find({ userId }).toArray()).map(({ workspaceId, role }) => [workspaceId, role])),
    /** At most 1,000 members, or of those with a role: a crowd of one role hides nobody of another. */
    list: async (workspaceId: string, role?: Role): Promise<readonly Membership[]> => {
      const wanted = { workspaceId, ...(role !== undefined && { role }) }
      return (await memberships.find(wanted).limit(MEMBERS_LISTED_MAX).toArray()).map(MEMBERSHIPS.toRecord)
    },
    find: async (workspaceId: string, userId: string): Promise<Membership | null> =>
      MEMBERSHIPS.toRecord(await memberships.findOne({ _id: membershipId({ workspaceId, userId }) })),
    /** Adds a member; false if the person already is one, whose role is then unchanged. */
    add: async (membership: Membership, auditWrite: AuditWrite): Promise<boolean> =>
      await audited(db, auditWrite, async (session) => await addMember(db, membership, session)),
    /**
     * `to` null removes. The last owner stays one, even when two are demoted concurrently. A member who loses the right to invite loses
     * their open invitations in the same transaction: they are closed as `void`. The open invitations of a removed person are withdrawn, and
     * their epoch rises when this was their last access: they belong to no other workspace and are no instance admin.
     */
    change: async (
      member: Pick<Membership, 'workspaceId' | 'userId'>,
      from: Role,
      to: Role | null,
      auditWrite: AuditWrite,
    ): Promise<MembershipChange> => {
      let outcome: MembershipChange = 'changed'
      await audited(db, auditWrite, async (session) => {
        outcome = await changeMember(memberships, { ...member, from, to }, session)
        if (outcome === 'done' && from === INVITER_ROLE) await voidInvitations(db, member, auditWrite.audit.at, session)
        if (outcome === 'done' && to === null) await endRemoved(db, member, auditWrite.audit.at, session)
        return outcome === 'done'
      })
      return outcome
    },
  }
}

/** The type of what {@link createMembershipRepository} returns. */
export type MembershipRepository = ReturnType<typeof createMembershipRepository>

async function changeMember(
  memberships: mongoose.mongo.Collection<MembershipDocument>,
  { workspaceId, userId, from, to }: Pick<Membership, 'workspaceId' | 'userId'> & { from: string; to: string | null },
  session: mongoose.mongo.ClientSession,
): Promise<MembershipChange> {
  const held = { _id: membershipId({ workspaceId, userId }), role: from as Membership['role'] }
  if (from === 'owner') {
    // Writing every owner's row makes two such actions conflict: the second one is retried and counts the remaining owners.
    const owners = await memberships.updateMany({ workspaceId, role: 'owner' }, { $inc: { turn: 1 } }, { session })
    if ((await memberships.findOne(held, { session })) === null) return 'changed'
    if (owners.matchedCount < 2) return 'last_owner'
  }
  if (to === null) return (await memberships.deleteOne(held, { session })).deletedCount === 1 ? 'done' : 'changed'
  const change = { $set: { role: to as Membership['role'] } }
  return (await memberships.updateOne(held, change, { session })).matchedCount === 1 ? 'done' : 'changed'
}

async function voidInvitations(
  db: Database,
  { workspaceId, userId }: Pick<Membership, 'workspaceId' | 'userId'>,
  at: number,
  session: mongoose.mongo.ClientSession,
): Promise<void> {
  const open = { workspaceId, inviterId: userId, closed: null }
  const change = { $set: { closed: { at: toDate(at), as: 'void' as const } } }
  await db.collection(INVITATIONS).updateMany(open, change, { session })
}

/**
 * Withdraws the open invitations of a removed person to this workspace, which were decided before, and raises the epoch of a person whose
 * last access this was. In other workspaces a person goes on: roles are read for every request.
 */
async function endRemoved(
  db: Database,
  { workspaceId, userId }: Pick<Membership, 'workspaceId' | 'userId'>,
  at: number,
  session: mongoose.mongo.ClientSession,
): Promise<void> {
  const person = await db.collection(USERS).findOne({ _id: userId }, { session })
  if (person === null) return
  const open = { workspaceId, email: person.email, closed: null }
  const change = { $set: { closed: { at: toDate(at), as: 'withdrawn' as const } } }
  await db.collection(INVITATIONS).updateMany(open, change, { session })
  if (person.isOperator || (await db.collection(MEMBERSHIPS).findOne({ userId }, { session })) !== null) return
  await raiseEpoch(db, { userId, from: null }, session)
}

/** Adds a member within a transaction; false if the person already is one. */
export async function addMember(
  db: Database,
  membership: Membership,
  session: mongoose.mongo.ClientSession,
): Promise<boolean> {
  const row = { ...MEMBERSHIPS.toDocument(membership), turn: 0 }
  const added = await db
    .collection(MEMBERSHIPS)
    .updateOne({ _id: membershipId(membership) }, { $setOnInsert: row }, { upsert: true, session })
  return added.upsertedCount === 1
}

/** The `_id` of a stored membership. */
export const membershipId = ({ workspaceId, userId }: Pick<Membership, 'workspaceId' | 'userId'>): string =>
  `${workspaceId}:${userId}`

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
