import { z } from 'zod'
import { defineCollection, type StoredOf } from '#shared/db/connection/collection-model.ts'
import type { Database } from '#shared/db/connection/connect.ts'
import { BYTES, bytesOf } from '#shared/db/connection/stored-fields.ts'
/** The workspace_logos collection: at most one picture of 64 KB for each workspace, outside its document, which every request reads. */
export const WORKSPACE_LOGOS = defineCollection(
  'workspace_logos',
  {
    /** The workspace. */
    _id: z.string(),
    hash: z.string(),
    bytes: BYTES,
  },
  [{ name: 'logo_hash', key: { hash: 1 } }],
)

/** A stored logo; `_id` is the workspace's. */
export type LogoDocument = StoredOf<typeof WORKSPACE_LOGOS>

/** Logos on MongoDB. */
export function createLogos(db: Database) {
  const logos = db.collection(WORKSPACE_LOGOS)
  return {
    /** The bytes of the logo of a workspace; null without one. */
    findByWorkspace: async (workspaceId: string): Promise<Uint8Array | null> =>
      orNull(await logos.findOne({ _id: workspaceId })),
    /** The bytes of any workspace's logo with this hash; null for an unknown one. */
    findByHash: async (hash: string): Promise<Uint8Array | null> => orNull(await logos.findOne({ hash })),
  }
}

const orNull = (stored: LogoDocument | null): Uint8Array | null => (stored === null ? null : bytesOf(stored.bytes))
