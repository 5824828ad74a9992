import mongoose from 'mongoose'
import { audited } from '#shared/db/audit/audited.ts'
import type { Database } from '#shared/db/connection/connect.ts'
import { toDate } from '#shared/db/connection/dates.ts'
import type { Ms } from '#shared/domain/invoice/model.ts'
import type { Logo } from '#shared/ports/logos.ts'
import type { AuditInput } from '#shared/ports/users.ts'
import type { Workspace } from '#shared/ports/workspaces.ts'
import { API_KEYS, type ApiKeyRecord } from './api-key-model.ts'
import { WORKSPACE_LOGOS } from './logos.ts'
import { WORKSPACES } from './workspace-model.ts'

/** Changes of keys and settings on MongoDB, one transaction each. */
export function createWorkspaceOperations(db: Database) {
  const keys = db.collection(API_KEYS)
  const workspaces = db.collection(WORKSPACES)
  const logos = db.collection(WORKSPACE_LOGOS)
  return {
    /** Stores a new key; false when this action was done before. */
    issueKey: (key: ApiKeyRecord, audit: AuditInput): Promise<boolean> =>
      audited(db, audit, async (session) => {
        const { _id, ...rest } = API_KEYS.toDocument(key)
        const added = await keys.updateOne({ _id }, { $setOnInsert: rest }, { upsert: true, session })
        return added.upsertedCount === 1
      }),
    findKey: async (id: string): Promise<ApiKeyRecord | null> => API_KEYS.toRecord(await keys.findOne({ _id: id })),
    /** Revokes an active key; false when it was revoked already. */
    revokeKey: (id: string, at: Ms, audit: AuditInput): Promise<boolean> =>
      audited(db, audit, async (session) => {
        const change = { $set: { revokedAt: toDate(at) }, $inc: { epoch: 1 } }
        return (await keys.updateOne({ _id: id, revokedAt: null }, change, { session })).matchedCount === 1
      }),
    /** Applies the given fields if `epoch` is still the workspace's, and increments it; null when it is not. A logo replaces the stored one, null removes it. */
    changeWorkspace: async (
      id: string,
      epoch: number,
      change: Partial<Pick<Workspace, 'policy' | 'name' | 'ownerEmail'>>,
      audit: AuditInput,
      logo?: Logo | null,
    ): Promise<Workspace | null> => {
      let changed: Workspace | null = null
      const isStored = await audited(db, audit, async (session) => {
        const stored = await workspaces.findOneAndUpdate(
          { _id: id, epoch },
          { $set: { ...change }, $inc: { epoch: 1 } },
          { returnDocument: 'after', session },
        )
        changed = WORKSPACES.toRecord(stored)
        if (stored === null) return false
        if (logo === null) await logos.deleteOne({ _id: id }, { session })
        else if (logo !== undefined) {
          const row = { hash: logo.hash, bytes: new mongoose.mongo.Binary(logo.bytes) }
          await logos.updateOne({ _id: id }, { $set: row }, { upsert: true, session })
        }
        return true
      })
      return isStored ? changed : null
    },
  }
}

/** The type of what {@link createWorkspaceOperations} returns. */
export type WorkspaceOperations = ReturnType<typeof createWorkspaceOperations>
