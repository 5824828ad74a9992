import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Config } from '#shared/config/schema.ts'
import { createApiKeyRepository } from '#shared/db/api-key-repository.ts'
import type { Database } from '#shared/db/connect.ts'
import { createWorkspaceRepository } from '#shared/db/workspace-repository.ts'
import { SCOPES } from '#shared/domain/enumerations.ts'
import { createKeyHasher } from '#shared/runtime/key-hasher.ts'
import { createApiKey } from '#shared/usecases/create-api-key.ts'
import { createWorkspace } from '#shared/usecases/create-workspace.ts'
import type { Ambient } from '#shared/usecases/ports/runtime.ts'
import { writePrivate } from './write-private.ts'

/** The workspace that a development installation starts with. */
export interface Seed {
  readonly workspaceId: string
  readonly testKey: string
  readonly liveKey: string
}

const OWNER_EMAIL = 'owner@paymesh.localhost'

/**
 * The seeded workspace of a data folder with one key per mode and every scope: the kept one when the stores still know
 * it, else a new one. The keys stay the same over restarts.
 */
export async function keepSeed(dataDir: string, db: Database, config: Config, ambient: Ambient): Promise<Seed> {
  const file = join(dataDir, 'seed.json')
  const workspaces = createWorkspaceRepository(db)
  const apiKeys = createApiKeyRepository(db)
  const hasher = createKeyHasher(config.secrets.keyPepper)
  const stored = read(file)
  if (stored !== null) {
    const known = await Promise.all([stored.testKey, stored.liveKey].map((key) => apiKeys.findByHash(hasher.hash(key))))
    if (known.every((record) => record?.workspaceId === stored.workspaceId && record.revokedAt === null)) return stored
  }
  const deps = { ...ambient, workspaces, apiKeys, hasher }
  const workspace = await createWorkspace(deps, { name: 'Corner Shop', ownerEmail: OWNER_EMAIL })
  const keyOf = async (mode: 'live' | 'test') =>
    (await createApiKey(deps, { workspaceId: workspace.id, mode, scopes: SCOPES })).apiKey
  const seed = { workspaceId: workspace.id, testKey: await keyOf('test'), liveKey: await keyOf('live') }
  writePrivate(file, seed)
  return seed
}

function read(file: string): Seed | null {
  try {
    return JSON.parse(readFileSync(file, 'utf8'))
  } catch {
    return null
  }
}
