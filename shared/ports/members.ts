import type { Ms } from '#shared/domain/invoice/model.ts'
import type { Noted } from './audit.ts'
import type { Role, User } from './users.ts'

/** A person's place in a workspace. */
export interface Membership {
  readonly workspaceId: string
  readonly userId: string
  readonly role: Role
  readonly since: Ms
}

/** Why a membership was not changed: `last_owner` protects the workspace, `changed` says that somebody was faster. */
export type MembershipChange = 'done' | 'last_owner' | 'changed'

/** Who belongs to which workspace. Changes write their audit row and mails in the same transaction. */
export interface MembershipRepository {
  rolesOf(userId: string): Promise<ReadonlyMap<string, Role>>
  list(workspaceId: string): Promise<readonly Membership[]>
  find(workspaceId: string, userId: string): Promise<Membership | null>
  /** Adds a member; false when there is one already, whose role stays. */
  add(membership: Membership, noted: Noted): Promise<boolean>
  /**
   * `to` null removes. The last owner stays one, even when two are demoted in the same moment. Who loses the right to invite loses
   * the open invitations in the same transaction: they are closed as `void`.
   */
  change(
    member: Pick<Membership, 'workspaceId' | 'userId'>,
    from: Role,
    to: Role | null,
    noted: Noted,
  ): Promise<MembershipChange>
}

/** A person who was asked to join a workspace. */
export interface Invitation {
  readonly id: string
  readonly workspaceId: string
  readonly email: string
  readonly role: Role
  /** SHA-256 of the token in the mailed link, lower-case hex. */
  readonly tokenHash: string
  readonly invitedBy: string
  /** Absent in invitations of a version that did not keep it: their audit row names the inviter. */
  readonly inviterId?: string
  readonly createdAt: Ms
  readonly expiresAt: Ms
  /** Null while it is open. */
  readonly closed: { readonly at: Ms; readonly as: 'accepted' | 'withdrawn' | 'void' } | null
}

/** The role that a person needs to invite others, at the invitation and at its acceptance. */
export const INVITER_ROLE: Role = 'owner'

/** What became of an acceptance. `closed`: the invitation is not open. `void`: its inviter may not invite any more. */
export type Acceptance = 'accepted' | 'closed' | 'void'

export interface InvitationRepository {
  /** False when this deed was done before; then the stored one stays. */
  insert(invitation: Invitation, noted: Noted): Promise<boolean>
  findById(id: string): Promise<Invitation | null>
  findByTokenHash(hash: string): Promise<Invitation | null>
  /** Open ones, newest first. */
  listOpen(workspaceId: string, at: Ms): Promise<readonly Invitation[]>
  withdraw(id: string, at: Ms, noted: Noted): Promise<boolean>
  /**
   * Closes the invitation and adds the member, and the person where `newUser` is given, while `inviterId` may invite: a removal of
   * the inviter at the same moment is either before or after it.
   */
  accept(
    invitation: Invitation,
    member: { readonly userId: string; readonly newUser: User | null; readonly inviterId: string; readonly at: Ms },
    noted: Noted,
  ): Promise<Acceptance>
}
