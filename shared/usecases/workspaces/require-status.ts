import { PaymeshError } from '#shared/contracts/errors.ts'
import { type WorkspaceStatus, worksIn } from '#shared/domain/enumerations.ts'
import type { Workspace } from '#shared/ports/workspaces.ts'

/**
 * Throws `WORKSPACE_SUSPENDED` or `WORKSPACE_RESTRICTED` when the workspace's status is beyond `worksWhile`, the last one in which something
 * works. Decision 0099 lists what works until when.
 */
export function requireStatus({ status }: Pick<Workspace, 'status'>, worksWhile: WorkspaceStatus): void {
  if (worksIn(status, worksWhile)) return
  throw new PaymeshError(status === 'suspended' ? 'WORKSPACE_SUSPENDED' : 'WORKSPACE_RESTRICTED')
}
