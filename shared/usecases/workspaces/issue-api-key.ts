import { PaymeshError } from '#shared/contracts/errors.ts'
import { newApiKey } from '#shared/domain/api-key.ts'
import type { Mode, Scope } from '#shared/domain/enumerations.ts'
import type { ApiKeyRecord } from '#shared/ports/api-keys.ts'
import type { EpochStore } from '#shared/ports/epoch-store.ts'
import type { Clock, Random } from '#shared/ports/runtime.ts'
import type { KeyHasher } from '#shared/ports/secrets.ts'
import type { TenancyDeeds } from '#shared/ports/workspaces.ts'
import type { Deed } from '#shared/usecases/audit/deed.ts'
import { deedId } from '#shared/usecases/audit/operation-resource-id.ts'
import { keyAudit } from './api-key-audit.ts'
import { revokeApiKey } from './revoke-api-key.ts'

/** What a person's deeds on keys need. */
export interface ApiKeyDeedDeps {
  readonly tenancy: Pick<TenancyDeeds, 'issueKey' | 'findKey' | 'revokeKey'>
  readonly epochs: Pick<EpochStore, 'setKeyEpoch'>
  readonly hasher: KeyHasher
  readonly clock: Clock
  readonly random: Random
}

/**
 * Issues an API key. The key itself is in the first answer and nowhere else: the same deed sent again gives the same record and
 * `apiKey` null.
 */
export async function issueApiKey(
  deps: ApiKeyDeedDeps,
  input: {
    readonly workspaceId: string
    readonly mode: Mode
    /** Absent for a key that nobody named. */
    readonly name?: string
    readonly scopes: readonly Scope[]
    readonly deed: Deed
  },
): Promise<{ readonly record: ApiKeyRecord; readonly apiKey: string | null }> {
  const { workspaceId, mode, name, deed } = input
  const scopes = [...new Set(input.scopes)]
  const id = deedId('api-key', workspaceId, deed.opId)
  const apiKey = newApiKey(mode, deps.random)
  const at = deps.clock.now()
  const record: ApiKeyRecord = {
    ...(name !== undefined && { name }),
    ...{ id, workspaceId, mode, scopes, hash: deps.hasher.hash(apiKey), last4: apiKey.slice(-4) },
    ...{ epoch: 0, createdAt: at, revokedAt: null, createdBy: deed.actor },
  }
  const audit = keyAudit(`${id}:created`, at, 'api_key.created', record, deed)
  if (await deps.tenancy.issueKey(record, audit)) return { record, apiKey }
  const stored = await deps.tenancy.findKey(id)
  if (stored === null) throw new PaymeshError('NOT_FOUND')
  return { record: stored, apiKey: null }
}

/**
 * Revokes a key of this workspace and mode; when it resolves, the key works nowhere. `last4` must be typed, so that the right one
 * goes: `VALIDATION_ERROR` otherwise. Repeating it changes nothing. `NOT_FOUND` for keys of others.
 */
export async function withdrawApiKey(
  deps: ApiKeyDeedDeps,
  input: {
    readonly workspaceId: string
    readonly mode: Mode
    readonly keyId: string
    readonly last4: string
    readonly deed: Deed
  },
): Promise<ApiKeyRecord> {
  const key = await deps.tenancy.findKey(input.keyId)
  if (key === null || key.workspaceId !== input.workspaceId || key.mode !== input.mode)
    throw new PaymeshError('NOT_FOUND')
  if (key.last4 !== input.last4) {
    const message = 'These are not the last four characters of this key.'
    throw new PaymeshError('VALIDATION_ERROR', { message, details: [{ path: 'last4', message }] })
  }
  return await revokeApiKey(deps, { keyId: key.id, deed: input.deed })
}
