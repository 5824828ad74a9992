import type { ApiKeyRecord, ApiKeyRepository } from '#shared/ports/api-keys.ts'
import type { UserRepository } from '#shared/ports/users.ts'

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
