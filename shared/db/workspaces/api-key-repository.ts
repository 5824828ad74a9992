import { audited } from '#shared/db/audit/audited.ts'
import type { Database } from '#shared/db/connection/connect.ts'
import { toDate, toDateOrNull, toMs, toMsOrNull } from '#shared/db/connection/dates.ts'
import type { ApiKeyRecord, ApiKeyRepository } from '#shared/ports/api-keys.ts'
import { API_KEYS, type ApiKeyDocument } from './api-key-model.ts'

/** API keys on MongoDB. */
export function createApiKeyRepository(db: Database): ApiKeyRepository {
  const keys = db.collection(API_KEYS)
  return {
    insert: async (key, audit) => {
      await audited(db, audit, async (session) => {
        await keys.insertOne(apiKeyToDocument(key), { session })
        return true
      })
    },
    findByHash: async (hash) => apiKeyFromDocument(await keys.findOne({ hash })),
    findManyByHash: async (hashes) =>
      (await keys.find({ hash: { $in: [...hashes] } }).toArray()).flatMap((stored) => apiKeyFromDocument(stored) ?? []),
    list: async (workspaceId) =>
      (
        await keys
          .find(workspaceId === null ? {} : { workspaceId })
          .sort({ _id: -1 })
          .toArray()
      ).flatMap((stored) => apiKeyFromDocument(stored) ?? []),
    revoke: async (id, at) => {
      const revoked = await keys.findOneAndUpdate(
        { _id: id, revokedAt: null },
        { $set: { revokedAt: toDate(at) }, $inc: { epoch: 1 } },
        { returnDocument: 'after' },
      )
      return apiKeyFromDocument(revoked ?? (await keys.findOne({ _id: id })))
    },
    noteUse: async (ids, at) => {
      await keys.updateMany({ _id: { $in: [...ids] } }, { $max: { lastUsedAt: toDate(at) } })
    },
  }
}

/** The stored form of a key. */
export function apiKeyToDocument({ id, createdAt, revokedAt, lastUsedAt, ...same }: ApiKeyRecord): ApiKeyDocument {
  const used = lastUsedAt === undefined ? {} : { lastUsedAt: toDate(lastUsedAt) }
  return { _id: id, ...same, createdAt: toDate(createdAt), revokedAt: toDateOrNull(revokedAt), ...used }
}

/** A key as it was stored; null stays null. */
export function apiKeyFromDocument(stored: ApiKeyDocument | null): ApiKeyRecord | null {
  if (stored === null) return null
  const { _id, createdAt, revokedAt, lastUsedAt, ...same } = stored
  const used = lastUsedAt === undefined ? {} : { lastUsedAt: toMs(lastUsedAt) }
  return { id: _id, ...same, createdAt: toMs(createdAt), revokedAt: toMsOrNull(revokedAt), ...used }
}
