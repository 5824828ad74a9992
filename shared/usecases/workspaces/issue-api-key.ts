import { PaymeshError, wrongEntry } from '#shared/contracts/errors.ts'
import { invalid } from '#shared/contracts/http/validate.ts'
import type { ApiKeyRecord } from '#shared/db/workspaces/api-key-model.ts'
import { newApiKey } from '#shared/domain/api-key.ts'
import type { Mode, Scope } from '#shared/domain/enumerations.ts'
import type { AuditAction } from '#shared/domain/marks/taken-back.ts'
import type { AuditRecord } from '#shared/ports/audit.ts'
import type { EpochStore } from '#shared/ports/epoch-store.ts'
import type { OperatorAction } from '#shared/usecases/audit/operator-action.ts'
import { derivedUuid, reasonOf } from '#shared/usecases/requests/begin-operation.ts'
import { requireOwn } from '#shared/usecases/requests/require-own.ts'
import type { Uses } from '#shared/usecases/uses.ts'
import { requireStatus } from './require-status.ts'

/**
 * Issues an API key, in one transaction with its audit row. The key itself is in the first response and nowhere else, and only its keyed digest
 * is stored: repeating the action returns the same record and `apiKey` null. Throws `NOT_FOUND` for an unknown workspace,
 * `WORKSPACE_SUSPENDED`, and `VALIDATION_ERROR` without a scope.
 */
export async function issueApiKey(
  deps: Uses<'workspaceAdmin' | 'workspaces' | 'hasher' | 'clock' | 'random'>,
  input: {
    readonly workspaceId: string
    readonly mode: Mode
    /** Absent for a key without a name. */
    readonly name?: string | undefined
    readonly scopes: readonly Scope[]
    readonly action: OperatorAction
  },
): Promise<{ readonly record: ApiKeyRecord; readonly apiKey: string | null }> {
  const { workspaceId, mode, name, action } = input
  const scopes = [...new Set(input.scopes)]
  if (scopes.length === 0) throw invalid([{ path: 'scopes', message: 'Needs at least one scope.' }])
  const workspace = await deps.workspaces.findById(workspaceId)
  if (workspace === null) throw new PaymeshError('NOT_FOUND')
  requireStatus(workspace, 'restricted')
  const id = derivedUuid('api-key', workspaceId, action.opId)
  const apiKey = newApiKey(mode, deps.random)
  const at = deps.clock.now()
  const record: ApiKeyRecord = {
    ...(name !== undefined && { name }),
    ...{ id, workspaceId, mode, scopes, hash: deps.hasher.hash(apiKey), last4: apiKey.slice(-4) },
    ...{ epoch: 0, createdAt: at, revokedAt: null, createdBy: action.actor },
  }
  const audit = keyAudit(`${id}:created`, at, 'api_key.created', record, action)
  if (await deps.workspaceAdmin.issueKey(record, audit)) return { record, apiKey }
  const stored = await deps.workspaceAdmin.findKey(id)
  if (stored === null) throw new PaymeshError('NOT_FOUND')
  return { record: stored, apiKey: null }
}

/**
 * Revokes a key of this workspace and mode; once it resolves, the key works nowhere. `last4`, unless it is absent, must be that of the key, so
 * that a person revokes the right one: `VALIDATION_ERROR` otherwise. Repeating it changes nothing. `NOT_FOUND` for keys of others.
 */
export async function withdrawApiKey(
  deps: RevokeApiKeyDeps,
  input: {
    readonly workspaceId: string
    readonly mode: Mode
    readonly keyId: string
    readonly last4?: string | undefined
    readonly action: OperatorAction
  },
): Promise<ApiKeyRecord> {
  const key = requireOwn(await deps.workspaceAdmin.findKey(input.keyId), input)
  if (input.last4 !== undefined && key.last4 !== input.last4)
    throw wrongEntry('last4', 'The last four characters do not match this key.')
  return await revokeApiKey(deps, { keyId: key.id, action: input.action })
}

/** Dependencies of revoking a key. */
type RevokeApiKeyDeps = Uses<'workspaceAdmin' | 'clock'> & {
  readonly epochs: Pick<EpochStore, 'setKeyEpoch'>
}

/**
 * Revokes a key, with its audit row. Once it resolves, the key works nowhere: the store is written first, then the epoch
 * that outdates cached records. Repeating it changes nothing. Throws `NOT_FOUND` for an unknown key.
 */
export async function revokeApiKey(
  { workspaceAdmin, epochs, clock }: RevokeApiKeyDeps,
  { keyId, action }: { readonly keyId: string; readonly action: OperatorAction },
): Promise<ApiKeyRecord> {
  const key = await workspaceAdmin.findKey(keyId)
  if (key === null) throw new PaymeshError('NOT_FOUND')
  const at = clock.now()
  await workspaceAdmin.revokeKey(key.id, at, keyAudit(`${key.id}:revoked`, at, 'api_key.revoked', key, action))
  const revoked = await workspaceAdmin.findKey(key.id)
  if (revoked === null) throw new PaymeshError('NOT_FOUND')
  // Set again on a repetition too: the first try may have crashed between the store and the epoch.
  await epochs.setKeyEpoch(revoked.id, revoked.epoch)
  return revoked
}

/** The audit row of an action on a key. */
function keyAudit(
  id: string,
  at: number,
  action: AuditAction,
  { id: subject, workspaceId, mode, last4, name, scopes }: ApiKeyRecord,
  { actor, reason = null }: { readonly actor: string; readonly reason?: string | null },
): AuditRecord {
  const detail = { last4, name: name ?? null, scopes: scopes.join(' '), ...reasonOf({ reason }) }
  return { id, at, actor, action, subject, workspaceId, mode, detail }
}
