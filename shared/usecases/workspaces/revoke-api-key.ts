import { PaymeshError } from '#shared/contracts/errors.ts'
import type { ApiKeyRecord } from '#shared/db/workspaces/api-key-model.ts'
import type { EpochStore } from '#shared/ports/epoch-store.ts'
import type { OperatorAction } from '#shared/usecases/audit/operator-action.ts'
import type { Uses } from '#shared/usecases/uses.ts'
import { keyAudit } from './api-key-audit.ts'

/** Dependencies of revoking a key. */
export type RevokeApiKeyDeps = Uses<'workspaceAdmin' | 'clock'> & {
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
