import type { Ms } from '#shared/domain/invoice/model.ts'
import type { AuditWrite } from './audit.ts'
import type { ActingSession, Role, User } from './users.ts'

/** An invitation of a person to a workspace. */
export interface Invitation {
  readonly id: string
  readonly workspaceId: string
  readonly email: string
  readonly role: Role
  /** SHA-256 of the token in the mailed link, lower-case hex. */
  readonly tokenHash: string
  readonly invitedBy: string
  /** The member who invited. */
  readonly inviterId: string
  readonly createdAt: Ms
  readonly expiresAt: Ms
  /** Null while it is open. */
  readonly closed: { readonly at: Ms; readonly as: 'accepted' | 'withdrawn' | 'void' } | null
}

/** The role required to invite others, at the invitation and at its acceptance. */
export const INVITER_ROLE: Role = 'owner'

/**
 * Result of an acceptance. `closed`: the invitation is not open. `void`: its inviter may not invite any more. `logged_out`: the session of
 * the invited person ended.
 */
export type Acceptance = 'accepted' | 'closed' | 'void' | 'logged_out'

export interface InvitationRepository {
  /** False when this action was done before; the stored one is then unchanged. */
  insert(invitation: Invitation, auditWrite: AuditWrite): Promise<boolean>
  findById(id: string): Promise<Invitation | null>
  findByTokenHash(hash: string): Promise<Invitation | null>
  /** Open ones, newest first. */
  listOpen(workspaceId: string, at: Ms): Promise<readonly Invitation[]>
  withdraw(id: string, at: Ms, auditWrite: AuditWrite): Promise<boolean>
  /**
   * Closes the invitation and adds the member, who is a new user or acts in a session, while `inviterId` may invite: a concurrent removal of
   * the inviter is either before or after it.
   */
  accept(
    invitation: Invitation,
    by: { readonly member: User | ActingSession; readonly at: Ms },
    auditWrite: AuditWrite,
  ): Promise<Acceptance>
}
