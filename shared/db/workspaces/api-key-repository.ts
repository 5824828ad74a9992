import type { Database } from '#shared/db/connection/connect.ts'
import { toDate } from '#shared/db/connection/dates.ts'
import type { Ms } from '#shared/domain/invoice/model.ts'
import { API_KEYS, type ApiKeyRecord } from './api-key-model.ts'

/** API keys on MongoDB. */
export function createApiKeyRepository(db: Database) {
  const keys = db.collection(API_KEYS)
  return {
    findByHash: async (hash: string): Promise<ApiKeyRecord | null> => API_KEYS.toRecord(await keys.findOne({ hash })),
    /** Several keys in one read; unknown hashes are left out. */
    findManyByHash: async (hashes: readonly string[]): Promise<readonly ApiKeyRecord[]> =>
      (await keys.find({ hash: { $in: [...hashes] } }).toArray()).map(API_KEYS.toRecord),
    list: async (workspaceId: string): Promise<readonly ApiKeyRecord[]> =>
      (await keys.find({ workspaceId }).sort({ _id: -1 }).toArray()).map(API_KEYS.toRecord),
    /** Moves the last use of these keys forward, never back; unknown ids are ignored. */
    noteUse: async (ids: readonly string[], at: Ms): Promise<void> => {
      await keys.updateMany({ _id: { $in: [...ids] } }, { $max: { lastUsedAt: toDate(at) } })
    },
  }
}

/** The type of what {@link createApiKeyRepository} returns. */
export type ApiKeyRepository = ReturnType<typeof createApiKeyRepository>
