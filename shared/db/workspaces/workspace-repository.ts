import type mongoose from 'mongoose'
import { audited } from '#shared/db/audit/audited.ts'
import type { Database } from '#shared/db/connection/connect.ts'
import { toDate, toMs } from '#shared/db/connection/dates.ts'
import type { Workspace, WorkspaceRepository } from '#shared/ports/workspaces.ts'
import { WORKSPACES, type WorkspaceDocument } from './workspace-model.ts'

/** Workspaces on MongoDB. */
export function createWorkspaceRepository(db: Database): WorkspaceRepository {
  const workspaces = db.collection(WORKSPACES)
  return {
    insert: async (workspace, audit) => {
      const { id, createdAt, ...same } = workspace
      await audited(db, audit, async (session) => {
        await workspaces.insertOne({ _id: id, ...same, createdAt: toDate(createdAt) }, { session })
        return true
      })
    },
    findById: async (id) => workspaceFromDocument(await workspaces.findOne({ _id: id })),
    findMany: async (ids) =>
      (await workspaces.find({ _id: { $in: [...ids] } }).toArray()).flatMap(
        (stored) => workspaceFromDocument(stored) ?? [],
      ),
    list: async () =>
      (await workspaces.find().sort({ _id: 1 }).toArray()).flatMap((stored) => workspaceFromDocument(stored) ?? []),
    countLive: () => workspaces.countDocuments({ status: { $ne: 'suspended' } }, { limit: 2 }),
    update: async (id, change, audit, epoch) => {
      const write = async (session: mongoose.mongo.ClientSession | null) =>
        await workspaces.findOneAndUpdate(
          { _id: id, ...(epoch !== undefined && { epoch }) },
          { $set: { ...change }, $inc: { epoch: 1 } },
          { returnDocument: 'after', ...(session !== null && { session }) },
        )
      if (audit === undefined) return workspaceFromDocument(await write(null))
      let stored: WorkspaceDocument | null = null
      const isStored = await audited(db, audit, async (session) => {
        stored = await write(session)
        return stored !== null
      })
      return isStored ? workspaceFromDocument(stored) : null
    },
  }
}

/** A workspace as it was stored; null stays null. */
export function workspaceFromDocument(stored: WorkspaceDocument | null): Workspace | null {
  if (stored === null) return null
  const { _id, createdAt, planTurn: _planTurn, ...same } = stored
  return { id: _id, ...same, createdAt: toMs(createdAt) }
}
