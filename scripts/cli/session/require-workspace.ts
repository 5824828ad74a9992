import { PaymeshError } from '#shared/contracts/errors.ts'
import type { WorkspaceRepository } from '#shared/db/workspaces/workspace-repository.ts'
import type { WorkspaceStatus } from '#shared/domain/workspace-status.ts'
import type { Workspace } from '#shared/ports/workspaces.ts'
import { requireStatus } from '#shared/usecases/workspaces/require-status.ts'

/**
 * The workspace that a command is about. `worksWhile` is the last status in which the command works, the same as for people at the dashboard.
 * Throws `NOT_FOUND`, `WORKSPACE_RESTRICTED` and `WORKSPACE_SUSPENDED`.
 */
export async function requireWorkspace(
  { workspaces }: { readonly workspaces: Pick<WorkspaceRepository, 'findById'> },
  id: string,
  worksWhile: WorkspaceStatus,
): Promise<Workspace> {
  const workspace = await workspaces.findById(id)
  if (workspace === null) throw new PaymeshError('NOT_FOUND', { message: `Workspace ${id} not found.` })
  requireStatus(workspace, worksWhile)
  return workspace
}
