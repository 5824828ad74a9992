import type mongoose from 'mongoose'
import { audited } from '#shared/db/audit/audited.ts'
import type { Database } from '#shared/db/connection/connect.ts'
import type { WorkspaceRepository } from '#shared/ports/workspaces.ts'
import { WORKSPACES, type WorkspaceDocument } from './workspace-model.ts'

/** Workspaces on MongoDB. */
export function createWorkspaceRepository(db: Database): WorkspaceRepository {
  const workspaces = db.collection(WORKSPACES)
  return {
    insert: async (workspace, audit) => {
      await audited(db, audit, async (session) => {
        await workspaces.insertOne(WORKSPACES.toDocument(workspace), { session })
        return true
      })
    },
    findById: async (id) => WORKSPACES.toRecord(await workspaces.findOne({ _id: id })),
    findMany: async (ids) => (await workspaces.find({ _id: { $in: [...ids] } }).toArray()).map(WORKSPACES.toRecord),
    list: async () => (await workspaces.find().sort({ _id: 1 }).toArray()).map(WORKSPACES.toRecord),
    countLive: () => workspaces.countDocuments({ status: { $ne: 'suspended' } }, { limit: 2 }),
    update: async (id, change, audit, epoch) => {
      const write = async (session: mongoose.mongo.ClientSession | null) =>
        await workspaces.findOneAndUpdate(
          { _id: id, ...(epoch !== undefined && { epoch }) },
          { $set: WORKSPACES.toFields(change), $inc: { epoch: 1 } },
          { returnDocument: 'after', ...(session !== null && { session }) },
        )
      if (audit === undefined) return WORKSPACES.toRecord(await write(null))
      let stored: WorkspaceDocument | null = null
      const isStored = await audited(db, audit, async (session) => {
        stored = await write(session)
        return stored !== null
      })
      return isStored ? WORKSPACES.toRecord(stored) : null
    },
  }
}
