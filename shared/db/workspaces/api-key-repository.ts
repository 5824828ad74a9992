import { audited } from '#shared/db/audit/audited.ts'
import type { Database } from '#shared/db/connection/connect.ts'
import { toDate } from '#shared/db/connection/dates.ts'
import type { ApiKeyRepository } from '#shared/ports/api-keys.ts'
import { API_KEYS } from './api-key-model.ts'

/** API keys on MongoDB. */
export function createApiKeyRepository(db: Database): ApiKeyRepository {
  const keys = db.collection(API_KEYS)
  return {
    insert: async (key, audit) => {
      await audited(db, audit, async (session) => {
        await keys.insertOne(API_KEYS.toDocument(key), { session })
        return true
      })
    },
    findByHash: async (hash) => API_KEYS.toRecord(await keys.findOne({ hash })),
    findManyByHash: async (hashes) =>
      (await keys.find({ hash: { $in: [...hashes] } }).toArray()).map(API_KEYS.toRecord),
    list: async (workspaceId) =>
      (
        await keys
          .find(workspaceId === null ? {} : { workspaceId })
          .sort({ _id: -1 })
          .toArray()
      ).map(API_KEYS.toRecord),
    revoke: async (id, at) => {
      const revoked = await keys.findOneAndUpdate(
        { _id: id, revokedAt: null },
        { $set: { revokedAt: toDate(at) }, $inc: { epoch: 1 } },
        { returnDocument: 'after' },
      )
      return API_KEYS.toRecord(revoked ?? (await keys.findOne({ _id: id })))
    },
    noteUse: async (ids, at) => {
      await keys.updateMany({ _id: { $in: [...ids] } }, { $max: { lastUsedAt: toDate(at) } })
    },
  }
}
