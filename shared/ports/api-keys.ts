import type { ApiKeyRecord } from '#shared/db/workspaces/api-key-model.ts'
import type { Ms } from '#shared/domain/invoice/model.ts'
import type { AuditRecord } from './audit.ts'

export type { ApiKeyRecord } from '#shared/db/workspaces/api-key-model.ts'

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
