import mongoose from 'mongoose'
import { defineCollection, TEXT } from '#shared/db/connection/collection-model.ts'
import type { Database } from '#shared/db/connection/connect.ts'
import type { Logos } from '#shared/ports/logos.ts'

/** A stored logo; `_id` is the workspace's. */
export interface LogoDocument {
  _id: string
  hash: string
  bytes: mongoose.mongo.Binary | Uint8Array
}

/** The workspace_logos collection: at most one picture of 64 KB for each workspace, outside its document, which every request reads. */
export const WORKSPACE_LOGOS = defineCollection<LogoDocument>(
  'workspace_logos',
  { _id: TEXT, hash: TEXT, bytes: { type: Buffer, required: true } },
  [{ name: 'logo_hash', key: { hash: 1 } }],
)

/** Logos on MongoDB. */
export function createLogos(db: Database): Logos {
  const logos = db.collection(WORKSPACE_LOGOS)
  return {
    findByWorkspace: async (workspaceId) => bytesOf(await logos.findOne({ _id: workspaceId })),
    findByHash: async (hash) => bytesOf(await logos.findOne({ hash })),
  }
}

function bytesOf(stored: LogoDocument | null): Uint8Array | null {
  if (stored === null) return null
  return stored.bytes instanceof mongoose.mongo.Binary ? stored.bytes.value() : stored.bytes
}
