import { PaymeshError } from '#shared/contracts/errors.ts'
import type { Clock } from './ports/runtime.ts'
import type { ApiKeyRecord, ApiKeyRepository, EpochStore } from './ports/tenancy.ts'

/** What revoking a key needs. */
export interface RevokeApiKeyDeps {
  readonly apiKeys: Pick<ApiKeyRepository, 'revoke'>
  readonly epochs: Pick<EpochStore, 'setKeyEpoch'>
  readonly clock: Clock
}

/**
 * Revokes a key. When it resolves, the key works nowhere any more: the store is written first, then the epoch that makes
 * cached records outdated. Repeating it changes nothing. Throws `NOT_FOUND` for an unknown key.
 */
export async function revokeApiKey(deps: RevokeApiKeyDeps, input: { readonly keyId: string }): Promise<ApiKeyRecord> {
  const revoked = await deps.apiKeys.revoke(input.keyId, deps.clock.now())
  if (revoked === null) throw new PaymeshError('NOT_FOUND')
  await deps.epochs.setKeyEpoch(revoked.id, revoked.epoch)
  return revoked
}
