import { PaymeshError } from '#shared/contracts/errors.ts'
import type { ApiKeyRecord } from '#shared/db/workspaces/api-key-model.ts'
import { newApiKey } from '#shared/domain/api-key.ts'
import type { Mode, Scope } from '#shared/domain/enumerations.ts'
import type { EpochStore } from '#shared/ports/epoch-store.ts'
import type { OperatorAction } from '#shared/usecases/audit/operator-action.ts'
import { derivedUuid } from '#shared/usecases/requests/begin-operation.ts'
import type { Uses } from '#shared/usecases/uses.ts'
import { keyAudit } from './api-key-audit.ts'
import { revokeApiKey } from './revoke-api-key.ts'

/** Dependencies of a person's actions on keys. */
export type ApiKeyChangeDeps = Uses<'workspaceAdmin' | 'hasher' | 'clock' | 'random'> & {
  readonly epochs: Pick<EpochStore, 'setKeyEpoch'>
}

/**
 * Issues an API key. The key itself is in the first response and nowhere else: repeating the action returns the same record and
 * `apiKey` null.
 */
export async function issueApiKey(
  deps: ApiKeyChangeDeps,
  input: {
    readonly workspaceId: string
    readonly mode: Mode
    /** Absent for a key without a name. */
    readonly name?: string
    readonly scopes: readonly Scope[]
    readonly action: OperatorAction
  },
): Promise<{ readonly record: ApiKeyRecord; readonly apiKey: string | null }> {
  const { workspaceId, mode, name, action } = input
  const scopes = [...new Set(input.scopes)]
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
 * Revokes a key of this workspace and mode; once it resolves, the key works nowhere. `last4` must be typed, so that the right key
 * is revoked: `VALIDATION_ERROR` otherwise. Repeating it changes nothing. `NOT_FOUND` for keys of others.
 */
export async function withdrawApiKey(
  deps: ApiKeyChangeDeps,
  input: {
    readonly workspaceId: string
    readonly mode: Mode
    readonly keyId: string
    readonly last4: string
    readonly action: OperatorAction
  },
): Promise<ApiKeyRecord> {
  const key = await deps.workspaceAdmin.findKey(input.keyId)
  if (key === null || key.workspaceId !== input.workspaceId || key.mode !== input.mode)
    throw new PaymeshError('NOT_FOUND')
  if (key.last4 !== input.last4) {
    const message = 'The last four characters do not match this key.'
    throw new PaymeshError('VALIDATION_ERROR', { message, details: [{ path: 'last4', message }] })
  }
  return await revokeApiKey(deps, { keyId: key.id, action: input.action })
}
