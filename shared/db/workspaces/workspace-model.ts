import { COUNT, DATE, defineCollection, optional, TEXT } from '#shared/db/connection/collection-model.ts'
import { WORKSPACE_STATUSES } from '#shared/domain/workspace-status.ts'
import type { Workspace } from '#shared/ports/workspaces.ts'

/** A stored workspace. */
export type WorkspaceDocument = Omit<Workspace, 'id' | 'createdAt'> & {
  _id: string
  createdAt: Date
  planTurn?: number
}

/** The workspaces collection; small, read by id. */
export const WORKSPACES = defineCollection<WorkspaceDocument>(
  'workspaces',
  {
    _id: TEXT,
    name: TEXT,
    ownerEmail: TEXT,
    status: { type: String, enum: [...WORKSPACE_STATUSES], required: true },
    limits: { type: Object, required: true },
    policy: { type: Object, required: true },
    epoch: COUNT,
    planTurn: optional(Number),
    createdAt: DATE,
  },
  [],
)
