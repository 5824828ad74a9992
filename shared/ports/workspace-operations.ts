import type { Ms } from '#shared/domain/invoice/model.ts'
import type { ApiKeyRecord } from './api-keys.ts'
import type { Logo } from './logos.ts'
import type { Recorded } from './users.ts'
import type { Workspace } from './workspaces.ts'

/** Operator changes of keys and settings: each with its audit row in the same transaction. */
export interface WorkspaceOperations {
  /** Stores a new key; false when this action was done before. */
  issueKey(key: ApiKeyRecord, audit: Recorded): Promise<boolean>
  findKey(id: string): Promise<ApiKeyRecord | null>
  /** Revokes an active key; false when it was revoked already. */
  revokeKey(id: string, at: Ms, audit: Recorded): Promise<boolean>
  /** Applies the given fields if `epoch` is still the workspace's, and increments it; null when it is not. A logo replaces the stored one, null removes it. */
  changeWorkspace(
    id: string,
    epoch: number,
    change: Partial<Pick<Workspace, 'policy' | 'name' | 'ownerEmail'>>,
    audit: Recorded,
    logo?: Logo | null,
  ): Promise<Workspace | null>
}
