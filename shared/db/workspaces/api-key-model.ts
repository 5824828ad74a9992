import { z } from 'zod'
import { defineCollection, type RecordOf } from '#shared/db/connection/collection-model.ts'
import { OWNED_FIELDS, TIME, textAs } from '#shared/db/connection/stored-fields.ts'
import type { Scope } from '#shared/domain/enumerations.ts'

/** The api_keys collection; found by digest on every request that misses the cache. */
export const API_KEYS = defineCollection(
  'api_keys',
  {
    _id: z.string(),
    ...OWNED_FIELDS,
    /** HMAC-SHA256 of the key under the installation's pepper, hex. The key itself is never stored. */
    hash: z.string(),
    last4: z.string(),
    /** Name given by its owner; absent on keys created without one. */
    name: z.string().exactOptional(),
    scopes: z.array(textAs<Scope>()),
    epoch: z.number(),
    createdAt: TIME,
    revokedAt: TIME.nullable(),
    /** The creator, as named in the audit log. */
    createdBy: z.string(),
    /** Precise to a few minutes; absent until the key was used. */
    lastUsedAt: TIME.exactOptional(),
  },
  [
    { name: 'api_key_hash', key: { hash: 1 }, unique: true },
    { name: 'api_key_workspace', key: { workspaceId: 1, _id: -1 } },
  ],
)

/** An API key, which a program of the merchant presents. */
export type ApiKeyRecord = RecordOf<typeof API_KEYS>
