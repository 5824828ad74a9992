import { COUNT, DATE, defineCollection, OWNED_FIELDS, optional, TEXT } from '#shared/db/connection/collection-model.ts'
import type { ApiKeyRecord } from '#shared/ports/api-keys.ts'

/** A stored API key: its keyed digest, never the key. */
export type ApiKeyDocument = Omit<ApiKeyRecord, 'id' | 'createdAt' | 'revokedAt' | 'lastUsedAt'> & {
  _id: string
  createdAt: Date
  revokedAt: Date | null
  lastUsedAt?: Date
}

/** The api_keys collection; found by digest on every request that misses the cache. */
export const API_KEYS = defineCollection<ApiKeyDocument>(
  'api_keys',
  {
    _id: TEXT,
    ...OWNED_FIELDS,
    hash: TEXT,
    last4: TEXT,
    name: optional(String),
    scopes: [String],
    epoch: COUNT,
    createdAt: DATE,
    revokedAt: optional(Date),
    lastUsedAt: optional(Date),
    createdBy: TEXT,
  },
  [
    { name: 'api_key_hash', key: { hash: 1 }, unique: true },
    { name: 'api_key_workspace', key: { workspaceId: 1, _id: -1 } },
  ],
)
