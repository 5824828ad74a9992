import type { Invitation } from '#shared/db/accounts/operator-models.ts'
import type { Ms } from '#shared/domain/invoice/model.ts'
import type { AuditWrite } from './audit.ts'
import type { ActingSession, Role, User } from './users.ts'

export type { Invitation } from '#shared/db/accounts/operator-models.ts'

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
