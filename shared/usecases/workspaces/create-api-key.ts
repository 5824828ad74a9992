import { PaymeshError } from '#shared/contracts/errors.ts'
import type { ApiKeyRecord } from '#shared/db/workspaces/api-key-model.ts'
import { newApiKey } from '#shared/domain/api-key.ts'
import type { Mode, Scope } from '#shared/domain/enumerations.ts'
import type { Uses } from '#shared/usecases/uses.ts'
import { keyAudit } from './api-key-audit.ts'

/**
 * Issues an API key, in one transaction with its audit row. The key itself is in this response and nowhere else: only its keyed digest is stored.
 * Throws `NOT_FOUND` for an unknown workspace and `VALIDATION_ERROR` without a scope.
 */
export async function createApiKey(
  deps: Uses<'apiKeys' | 'workspaces' | 'hasher' | 'clock' | 'random'>,
  input: {
    readonly workspaceId: string
    readonly mode: Mode
    readonly scopes: readonly Scope[]
    readonly actor: string
  },
): Promise<{ readonly record: ApiKeyRecord; readonly apiKey: string }> {
  if (input.scopes.length === 0) {
    throw new PaymeshError('VALIDATION_ERROR', { details: [{ path: 'scopes', message: 'Needs at least one scope.' }] })
  }
  if ((await deps.workspaces.findById(input.workspaceId)) === null) throw new PaymeshError('NOT_FOUND')
  const apiKey = newApiKey(input.mode, deps.random)
  const record: ApiKeyRecord = {
    id: deps.random.uuid(),
    workspaceId: input.workspaceId,
    mode: input.mode,
    hash: deps.hasher.hash(apiKey),
    last4: apiKey.slice(-4),
    scopes: [...new Set(input.scopes)],
    epoch: 0,
    createdAt: deps.clock.now(),
    revokedAt: null,
    createdBy: input.actor,
  }
  const audit = keyAudit(`${record.id}:created`, record.createdAt, 'api_key.created', record, { actor: input.actor })
  await deps.apiKeys.insert(record, audit)
  return { record, apiKey }
}
