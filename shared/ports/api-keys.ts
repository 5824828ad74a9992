import type { Mode, Scope } from '#shared/domain/enumerations.ts'
import type { Ms } from '#shared/domain/invoice/model.ts'

export interface ApiKeyRecord {
  readonly id: string
  readonly workspaceId: string
  readonly mode: Mode
  /** HMAC-SHA256 of the key under the installation's pepper, hex. The key itself is never stored. */
  readonly hash: string
  readonly last4: string
  /** What its owner calls it; absent on keys that were made without one. */
  readonly name?: string
  readonly scopes: readonly Scope[]
  readonly epoch: number
  readonly createdAt: Ms
  readonly revokedAt: Ms | null
  /** Who created it, as the audit trail names them; absent on keys of a version that did not keep it. */
  readonly createdBy?: string
  /** A few minutes coarse; absent until the key was used. */
  readonly lastUsedAt?: Ms
}

export interface ApiKeyRepository {
  insert(key: ApiKeyRecord): Promise<void>
  findByHash(hash: string): Promise<ApiKeyRecord | null>
  /** Several keys in one read; unknown hashes are left out. */
  findManyByHash(hashes: readonly string[]): Promise<readonly ApiKeyRecord[]>
  list(workspaceId: string | null): Promise<readonly ApiKeyRecord[]>
  /** Sets revokedAt once and raises the epoch; null when unknown. Repeating it changes nothing. */
  revoke(id: string, at: Ms): Promise<ApiKeyRecord | null>
  /** Moves the last use of these keys forward, never back; unknown ids are passed over. */
  noteUse(ids: readonly string[], at: Ms): Promise<void>
}
