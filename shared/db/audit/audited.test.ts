import { expect, it } from 'vitest'
import { createWorkspaceOperations } from '#shared/db/workspaces/workspace-operations.ts'
import { createWorkspaceRepository } from '#shared/db/workspaces/workspace-repository.ts'
import { createWorkspace } from '#shared/usecases/workspaces/create-workspace.ts'
import { issueApiKey } from '#shared/usecases/workspaces/issue-api-key.ts'
import { createMemoryStore } from '#test/simulation/store/memory-store.ts'
import { openSimulatedDatabase } from '#test/simulation/store/simulated-database.ts'

const AT = Date.UTC(2026, 0, 1)

// Guarantee: an operator who clicks twice gets the key's record twice, also while the first click is not yet on a majority of the nodes.
it('finds what the same action stored a moment before, while the majority lags', async () => {
  const store = createMemoryStore({ now: () => AT })
  const db = openSimulatedDatabase(store, async (_operation, run) => run())
  const random = {
    uuid: () => crypto.randomUUID(),
    bytes: (count: number) => crypto.getRandomValues(new Uint8Array(count)),
  }
  const deps = {
    workspaceAdmin: createWorkspaceOperations(db),
    workspaces: createWorkspaceRepository(db),
    hasher: { hash: (key: string) => key },
    clock: { now: () => AT },
    random,
  }
  const action = { opId: crypto.randomUUID(), actor: 'user:olivia@example.com', reason: null }
  const { id: workspaceId } = await createWorkspace(deps, { name: 'Shop', ownerEmail: 'o@example.com', actor: 'test' })
  const wanted = { workspaceId, mode: 'test', scopes: ['invoices:read'], action } as const
  store.holdBack()
  const first = await issueApiKey(deps, wanted)
  const second = await issueApiKey(deps, wanted)
  expect(second).toEqual({ record: first.record, apiKey: null })
})
