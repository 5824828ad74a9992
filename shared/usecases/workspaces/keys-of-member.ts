import type { ApiKeyRecord, ApiKeyRepository } from '#shared/ports/api-keys.ts'
import type { AuditRepository } from '#shared/ports/audit.ts'
import type { UserRepository } from '#shared/ports/users.ts'

/**
 * API keys of a workspace that a person created and that are not revoked, of both modes, newest first: they stay usable
 * after the membership ended. For keys that do not name their creator, the audit row does. Empty for an unknown person.
 */
export async function keysOfMember(
  deps: {
    readonly users: Pick<UserRepository, 'findById'>
    readonly apiKeys: Pick<ApiKeyRepository, 'list'>
    readonly audits: Pick<AuditRepository, 'newestOf'>
  },
  { workspaceId, userId }: { readonly workspaceId: string; readonly userId: string },
): Promise<readonly ApiKeyRecord[]> {
  const [user, keys] = await Promise.all([deps.users.findById(userId), deps.apiKeys.list(workspaceId)])
  if (user === null) return []
  const actor = `user:${user.email}`
  const living = keys.filter(({ revokedAt }) => revokedAt === null)
  const makers = await Promise.all(living.map((key) => key.createdBy ?? recordedMaker(deps, key)))
  const own = living.filter((_key, index) => makers[index] === actor)
  return own.toSorted((one, other) => other.createdAt - one.createdAt)
}

async function recordedMaker(
  { audits }: { readonly audits: Pick<AuditRepository, 'newestOf'> },
  { id }: ApiKeyRecord,
): Promise<string | null> {
  return (await audits.newestOf(id, 'api_key.created'))?.actor ?? null
}
