import type { Database } from '#shared/db/connection/connect.ts'
import { createApiKeyRepository } from '#shared/db/workspaces/api-key-repository.ts'
import { createWorkspaceRepository } from '#shared/db/workspaces/workspace-repository.ts'
import { SCOPES } from '#shared/domain/enumerations.ts'
import { createKeyHasher } from '#shared/runtime/secrets/key-hasher.ts'
import { createRandom } from '#shared/runtime/secrets/random.ts'
import { createApiKey } from '#shared/usecases/workspaces/create-api-key.ts'
import { createWorkspace } from '#shared/usecases/workspaces/create-workspace.ts'

/** A test key and its workspace. */
export interface BenchKey {
  readonly apiKey: string
  readonly workspaceId: string
}

/** Issues `keys` test keys, spread over `workspaces`; the rate limit allows each key two requests a second. */
export async function seedKeys(
  db: Database,
  pepper: Uint8Array,
  counts: { readonly workspaces: number; readonly keys: number },
): Promise<readonly BenchKey[]> {
  const deps = {
    workspaces: createWorkspaceRepository(db),
    apiKeys: createApiKeyRepository(db),
    hasher: createKeyHasher(pepper),
    random: createRandom(Date.now),
    clock: { now: Date.now },
  }
  const keys: BenchKey[] = []
  for (let shop = 0; shop < counts.workspaces; shop += 1) {
    const { id: workspaceId } = await createWorkspace(deps, {
      name: `Shop ${shop}`,
      ownerEmail: 'owner@example.com',
      actor: 'bench',
    })
    const perWorkspace = Array.from({ length: counts.keys / counts.workspaces }, () =>
      createApiKey(deps, { workspaceId, mode: 'test', scopes: SCOPES, actor: 'bench' }),
    )
    for (const { apiKey } of await Promise.all(perWorkspace)) keys.push({ apiKey, workspaceId })
  }
  return keys
}
