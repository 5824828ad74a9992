import type { Mode, Scope } from '#shared/domain/enumerations.ts'
import type { Ms } from '#shared/domain/invoice/model.ts'
import type { AuditRecord } from './audit.ts'

export interface ApiKeyRecord {
  readonly id: string
  readonly workspaceId: string
  readonly mode: Mode
  /** HMAC-SHA256 of the key under the installation's pepper, hex. The key itself is never stored. */
  readonly hash: string
  readonly last4: string
  /** Name given by its owner; absent on keys created without one. */
  readonly name?: string
  readonly scopes: readonly Scope[]
  readonly epoch: number
  readonly createdAt: Ms
  readonly revokedAt: Ms | null
  /** The creator, as named in the audit log. */
  readonly createdBy: string
  /** Precise to a few minutes; absent until the key was used. */
  readonly lastUsedAt?: Ms
}

export interface ApiKeyRepository {
  /** Stores a key in one transaction with its audit row. */
  insert(key: ApiKeyRecord, audit: AuditRecord): Promise<void>
  findByHash(hash: string): Promise<ApiKeyRecord | null>
  /** Several keys in one read; unknown hashes are left out. */
  findManyByHash(hashes: readonly string[]): Promise<readonly ApiKeyRecord[]>
  list(workspaceId: string | null): Promise<readonly ApiKeyRecord[]>
  /** Sets revokedAt once and raises the epoch; null when unknown. Repeating it changes nothing. */
  revoke(id: string, at: Ms): Promise<ApiKeyRecord | null>
  /** Moves the last use of these keys forward, never back; unknown ids are ignored. */
  noteUse(ids: readonly string[], at: Ms): Promise<void>
}
