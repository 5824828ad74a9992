import type { Membership } from '#shared/db/accounts/operator-models.ts'
import type { AuditWrite } from './audit.ts'
import type { Role } from './users.ts'

export type { Membership } from '#shared/db/accounts/operator-models.ts'

/** Why a membership was not changed: `last_owner` protects the workspace, `changed` means a concurrent change. */
export type MembershipChange = 'done' | 'last_owner' | 'changed'

/** Members of workspaces. Changes write their audit row and mails in the same transaction. */
export interface MembershipRepository {
  rolesOf(userId: string): Promise<ReadonlyMap<string, Role>>
  /** At most 1,000 members, or of those with a role: a crowd of one role hides nobody of another. */
  list(workspaceId: string, role?: Role): Promise<readonly Membership[]>
  find(workspaceId: string, userId: string): Promise<Membership | null>
  /** Adds a member; false if the person already is one, whose role is then unchanged. */
  add(membership: Membership, auditWrite: AuditWrite): Promise<boolean>
  /**
   * `to` null removes. The last owner stays one, even when two are demoted concurrently. A member who loses the right to invite loses
   * their open invitations in the same transaction: they are closed as `void`. The open invitations of a removed person are withdrawn, and
   * their epoch rises when this was their last access: they belong to no other workspace and are no instance admin.
   */
  change(
    member: Pick<Membership, 'workspaceId' | 'userId'>,
    from: Role,
    to: Role | null,
    auditWrite: AuditWrite,
  ): Promise<MembershipChange>
}
