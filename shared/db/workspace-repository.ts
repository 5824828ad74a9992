import type { Workspace, WorkspaceRepository } from '#shared/usecases/ports/tenancy.ts'
import type { Database } from './connect.ts'
import { toDate, toMs } from './dates.ts'
import { WORKSPACES, type WorkspaceDocument } from './workspace-model.ts'

/** Workspaces on MongoDB. */
export function createWorkspaceRepository(db: Database): WorkspaceRepository {
  const workspaces = db.collection(WORKSPACES)
  return {
    insert: async (workspace) => {
      const { id, createdAt, ...same } = workspace
      await workspaces.insertOne({ _id: id, ...same, createdAt: toDate(createdAt) })
    },
    findById: async (id) => workspaceFromDocument(await workspaces.findOne({ _id: id })),
    findMany: async (ids) =>
      (await workspaces.find({ _id: { $in: [...ids] } }).toArray()).flatMap(
        (stored) => workspaceFromDocument(stored) ?? [],
      ),
    list: async () =>
      (await workspaces.find().sort({ _id: 1 }).toArray()).flatMap((stored) => workspaceFromDocument(stored) ?? []),
    update: async (id, change) =>
      workspaceFromDocument(
        await workspaces.findOneAndUpdate(
          { _id: id },
          { $set: { ...change }, $inc: { epoch: 1 } },
          { returnDocument: 'after' },
        ),
      ),
  }
}

/** A workspace as it was stored; null stays null. */
export function workspaceFromDocument(stored: WorkspaceDocument | null): Workspace | null {
  if (stored === null) return null
  const { _id, createdAt, ...same } = stored
  return { id: _id, ...same, createdAt: toMs(createdAt) }
}
