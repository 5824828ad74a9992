import type { WorkspaceRepository } from '#shared/db/workspaces/workspace-repository.ts'
import type { Workspace } from '#shared/ports/workspaces.ts'
import { requireStatus } from './require-status.ts'

/**
 * The workspace that a payer deals with. A suspended one gives no new quotes but honours its old ones; a restricted one
 * creates nothing new. Throws `WORKSPACE_SUSPENDED` and, when `creates`, `WORKSPACE_RESTRICTED`.
 */
export async function requireOpenWorkspace(
  deps: { readonly workspaces: Pick<WorkspaceRepository, 'findById'> },
  workspaceId: string,
  creates = false,
): Promise<Workspace> {
  const workspace = await deps.workspaces.findById(workspaceId)
  if (workspace === null) throw new Error(`workspace ${workspaceId} not found`)
  requireStatus(workspace, creates ? 'active' : 'restricted')
  return workspace
}
