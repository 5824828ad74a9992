import type { MembershipRepository } from '#shared/db/accounts/membership-repository.ts'
import type { UserRepository } from '#shared/db/accounts/user-repository.ts'
import type { WorkspaceRepository } from '#shared/db/workspaces/workspace-repository.ts'

/** E-mail addresses of all owners of a workspace: the one given at its creation, and those of members who are owners. */
export async function ownersOfWorkspace(
  deps: {
    readonly workspaces: Pick<WorkspaceRepository, 'findById'>
    readonly memberships: Pick<MembershipRepository, 'list'>
    readonly users: Pick<UserRepository, 'findMany'>
  },
  workspaceId: string,
): Promise<readonly string[]> {
  const [workspace, owners] = await Promise.all([
    deps.workspaces.findById(workspaceId),
    deps.memberships.list(workspaceId, 'owner'),
  ])
  const mails = (await deps.users.findMany(owners.map(({ userId }) => userId))).map(({ email }) => email)
  return [...new Set([...(workspace === null ? [] : [workspace.ownerEmail]), ...mails])]
}
