/** States of a workspace. Each one refuses everything that those before it refuse, and more. */
export const WORKSPACE_STATUSES = ['active', 'restricted', 'suspended'] as const
export type WorkspaceStatus = (typeof WORKSPACE_STATUSES)[number]

/** Whether something that works up to the status `worksWhile` works in a workspace of this status. */
export function worksIn(status: WorkspaceStatus, worksWhile: WorkspaceStatus): boolean {
  return WORKSPACE_STATUSES.indexOf(status) <= WORKSPACE_STATUSES.indexOf(worksWhile)
}
