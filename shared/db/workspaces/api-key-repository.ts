import type { AuditRecord } from '#shared/db/audit/audit-model.ts'
import { insertAudited } from '#shared/db/audit/audited.ts'
import type { Database } from '#shared/db/connection/connect.ts'
import { toDate } from '#shared/db/connection/dates.ts'
import type { Ms } from '#shared/domain/invoice/model.ts'
import { API_KEYS, type ApiKeyRecord } from './api-key-model.ts'

/** API keys on MongoDB. */
export function createApiKeyRepository(db: Database) {
  const keys = db.collection(API_KEYS)
  return {
    /** Stores a key in one transaction with its audit row. */
    insert: async (key: ApiKeyRecord, audit: AuditRecord): Promise<void> => {
      await insertAudited(db, audit, (within) => keys.insertOne(API_KEYS.toDocument(key), within))
    },
    findByHash: async (hash: string): Promise<ApiKeyRecord | null> => API_KEYS.toRecord(await keys.findOne({ hash })),
    /** Several keys in one read; unknown hashes are left out. */
    findManyByHash: async (hashes: readonly string[]): Promise<readonly ApiKeyRecord[]> =>
      (await keys.find({ hash: { $in: [...hashes] } }).toArray()).map(API_KEYS.toRecord),
    list: async (workspaceId: string | null): Promise<readonly ApiKeyRecord[]> =>
      (
        await keys
          .find(workspaceId === null ? {} : { workspaceId })
          .sort({ _id: -1 })
          .toArray()
      ).map(API_KEYS.toRecord),
    /** Sets revokedAt once and raises the epoch; null when unknown. Repeating it changes nothing. */
    revoke: async (id: string, at: Ms): Promise<ApiKeyRecord | null> => {
      const revoked = await keys.findOneAndUpdate(
        { _id: id, revokedAt: null },
        { $set: { revokedAt: toDate(at) }, $inc: { epoch: 1 } },
        { returnDocument: 'after' },
      )
      return API_KEYS.toRecord(revoked ?? (await keys.findOne({ _id: id })))
    },
    /** Moves the last use of these keys forward, never back; unknown ids are ignored. */
    noteUse: async (ids: readonly string[], at: Ms): Promise<void> => {
      await keys.updateMany({ _id: { $in: [...ids] } }, { $max: { lastUsedAt: toDate(at) } })
    },
  }
}

/** The type of what {@link createApiKeyRepository} returns. */
export type ApiKeyRepository = ReturnType<typeof createApiKeyRepository>
