import type { Workspace } from '#shared/db/workspaces/workspace-model.ts'
import type { AuditRecord } from './audit.ts'
import type { Recorded } from './users.ts'

export type { Workspace } from '#shared/db/workspaces/workspace-model.ts'

/** Per-workspace settings; every field has a default. */
export type WorkspacePolicy = Workspace['policy']

export interface WorkspaceRepository {
  /** Stores a workspace in one transaction with its audit row. */
  insert(workspace: Workspace, audit: AuditRecord): Promise<void>
  findById(id: string): Promise<Workspace | null>
  /** Several workspaces in one read; unknown ids are left out. */
  findMany(ids: readonly string[]): Promise<readonly Workspace[]>
  list(): Promise<readonly Workspace[]>
  /** How many workspaces are not suspended; counts no further than two. */
  countLive(): Promise<number>
  /**
   * Applies the given fields and increments `epoch`, together with the audit row and its mails if given; null when unknown. Limits and
   * policy are written whole, so a change made from a copy names its `epoch`: null also when that is not the workspace's any more.
   */
  update(
    id: string,
    change: Partial<Pick<Workspace, 'status' | 'limits' | 'policy' | 'name' | 'ownerEmail'>>,
    audit?: Recorded,
    epoch?: number,
  ): Promise<Workspace | null>
}
