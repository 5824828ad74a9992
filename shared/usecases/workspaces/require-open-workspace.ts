import { PaymeshError } from '#shared/contracts/errors.ts'
import type { Workspace, WorkspaceRepository } from '#shared/ports/workspaces.ts'

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
  if (workspace.status === 'suspended') throw new PaymeshError('WORKSPACE_SUSPENDED')
  if (creates && workspace.status === 'restricted') throw new PaymeshError('WORKSPACE_RESTRICTED')
  return workspace
}
