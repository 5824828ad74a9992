import { z } from 'zod'
import type { ApiKeyRecord } from '#shared/db/workspaces/api-key-model.ts'
import { MODES } from '#shared/domain/enumerations.ts'

/** An API key as shown to operators: without the key. */
export const apiKeyWire = z.object({
  id: z.string(),
  name: z.string().nullable(),
  mode: z.enum(MODES),
  last4: z.string(),
  scopes: z.array(z.string()),
  createdAt: z.number(),
  revokedAt: z.number().nullable(),
  /** Precise to a few minutes; null until the key was used. */
  lastUsedAt: z.number().nullable(),
})

/** The wire form of a stored key. */
export function apiKeyToWire(record: ApiKeyRecord): z.output<typeof apiKeyWire> {
  const { id, mode, last4, scopes, createdAt, revokedAt, name = null, lastUsedAt = null } = record
  return { id, name, mode, last4, scopes: [...scopes], createdAt, revokedAt, lastUsedAt }
}
