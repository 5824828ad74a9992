import type { UserRepository } from '#shared/db/accounts/user-repository.ts'
import type { ApiKeyRecord } from '#shared/db/workspaces/api-key-model.ts'
import type { ApiKeyRepository } from '#shared/db/workspaces/api-key-repository.ts'

/**
 * API keys of a workspace that a person created and that are not revoked, of both modes, newest first: they stay usable
 * after the membership ended. Empty for an unknown person.
 */
export async function keysOfMember(
  deps: {
    readonly users: Pick<UserRepository, 'findById'>
    readonly apiKeys: Pick<ApiKeyRepository, 'list'>
  },
  { workspaceId, userId }: { readonly workspaceId: string; readonly userId: string },
): Promise<readonly ApiKeyRecord[]> {
  const [user, keys] = await Promise.all([deps.users.findById(userId), deps.apiKeys.list(workspaceId)])
  if (user === null) return []
  const actor = `user:${user.email}`
  const own = keys.filter(({ revokedAt, createdBy }) => revokedAt === null && createdBy === actor)
  return own.toSorted((one, other) => other.createdAt - one.createdAt)
}
