import { PaymeshError } from '#shared/contracts/errors.ts'
import type { ApiKeyRecord } from '#shared/ports/api-keys.ts'
import type { EpochStore } from '#shared/ports/epoch-store.ts'
import type { Clock } from '#shared/ports/runtime.ts'
import type { TenancyDeeds } from '#shared/ports/workspaces.ts'
import type { Deed } from '#shared/usecases/audit/deed.ts'
import { keyAudit } from './api-key-audit.ts'

/** What revoking a key needs. */
export interface RevokeApiKeyDeps {
  readonly tenancy: Pick<TenancyDeeds, 'findKey' | 'revokeKey'>
  readonly epochs: Pick<EpochStore, 'setKeyEpoch'>
  readonly clock: Clock
}

/**
 * Revokes a key, with its audit row. When it resolves, the key works nowhere any more: the store is written first, then the epoch
 * that makes cached records outdated. Repeating it changes nothing. Throws `NOT_FOUND` for an unknown key.
 */
export async function revokeApiKey(
  { tenancy, epochs, clock }: RevokeApiKeyDeps,
  { keyId, deed }: { readonly keyId: string; readonly deed: Deed },
): Promise<ApiKeyRecord> {
  const key = await tenancy.findKey(keyId)
  if (key === null) throw new PaymeshError('NOT_FOUND')
  const at = clock.now()
  await tenancy.revokeKey(key.id, at, keyAudit(`${key.id}:revoked`, at, 'api_key.revoked', key, deed))
  const revoked = await tenancy.findKey(key.id)
  if (revoked === null) throw new PaymeshError('NOT_FOUND')
  // Set again on a repetition too: the first try may have ended between the store and the epoch.
  await epochs.setKeyEpoch(revoked.id, revoked.epoch)
  return revoked
}
