import type { Workspace } from '#shared/db/workspaces/workspace-model.ts'

export type { Workspace } from '#shared/db/workspaces/workspace-model.ts'

/** Per-workspace settings; every field has a default. */
export type WorkspacePolicy = Workspace['policy']
