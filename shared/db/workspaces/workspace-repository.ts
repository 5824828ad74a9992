import type mongoose from 'mongoose'
import type { AuditRecord } from '#shared/db/audit/audit-model.ts'
import { audited, insertAudited } from '#shared/db/audit/audited.ts'
import type { Database } from '#shared/db/connection/connect.ts'
import type { AuditInput } from '#shared/ports/users.ts'
import { WORKSPACES, type Workspace, type WorkspaceDocument } from './workspace-model.ts'

/** Workspaces on MongoDB. */
export function createWorkspaceRepository(db: Database) {
  const workspaces = db.collection(WORKSPACES)
  return {
    /** Stores a workspace in one transaction with its audit row. */
    insert: async (workspace: Workspace, audit: AuditRecord): Promise<void> => {
      await insertAudited(db, audit, (within) => workspaces.insertOne(WORKSPACES.toDocument(workspace), within))
    },
    findById: async (id: string): Promise<Workspace | null> =>
      WORKSPACES.toRecord(await workspaces.findOne({ _id: id })),
    /** Several workspaces in one read; unknown ids are left out. */
    findMany: async (ids: readonly string[]): Promise<readonly Workspace[]> =>
      (await workspaces.find({ _id: { $in: [...ids] } }).toArray()).map(WORKSPACES.toRecord),
    list: async (): Promise<readonly Workspace[]> =>
      (await workspaces.find().sort({ _id: 1 }).toArray()).map(WORKSPACES.toRecord),
    /** How many workspaces are not suspended; counts no further than two. */
    countLive: (): Promise<number> => workspaces.countDocuments({ status: { $ne: 'suspended' } }, { limit: 2 }),
    /**
     * Applies the given fields and increments `epoch`, together with the audit row and its mails if given; null when unknown. Limits and
     * policy are written whole, so a change made from a copy names its `epoch`: null also when that is not the workspace's any more.
     */
    update: async (
      id: string,
      change: Partial<Pick<Workspace, 'status' | 'limits' | 'policy' | 'name' | 'ownerEmail'>>,
      audit?: AuditInput,
      epoch?: number,
    ): Promise<Workspace | null> => {
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

/** The type of what {@link createWorkspaceRepository} returns. */
export type WorkspaceRepository = ReturnType<typeof createWorkspaceRepository>
