import { describe, expect, it } from 'vitest'
import { createCatalog } from '#shared/chains/catalog.ts'
import { createApiKeyRepository } from '#shared/db/workspaces/api-key-repository.ts'
import { createWorkspaceOperations } from '#shared/db/workspaces/workspace-operations.ts'
import { createWorkspaceRepository } from '#shared/db/workspaces/workspace-repository.ts'
import { parseApiKey } from '#shared/domain/api-key.ts'
import { createKeyHasher } from '#shared/runtime/secrets/secret-box.ts'
import { issueKey } from '#test/support/issue-key.ts'
import { useStores } from '#test/support/stores.ts'
import { createWorkspace } from './create-workspace.ts'
import { revokeApiKey } from './issue-api-key.ts'
import { updateWorkspace } from './update-workspace.ts'

const stores = useStores()

const action = { opId: 'op', actor: 'cli:ada', reason: null }
const setUp = () => {
  const reported: string[] = []
  const epochs = {
    setKeyEpoch: async (id: string, epoch: number) => void reported.push(`key ${id} ${epoch}`),
    setWorkspaceEpoch: async (id: string, epoch: number) => void reported.push(`workspace ${id} ${epoch}`),
  }
  const workspaces = createWorkspaceRepository(stores.db)
  const apiKeys = createApiKeyRepository(stores.db)
  const hasher = createKeyHasher(new Uint8Array(32).fill(3))
  const catalog = createCatalog({ live: {}, test: {} })
  const workspaceAdmin = createWorkspaceOperations(stores.db)
  return { deps: { ...stores.runtime, workspaces, apiKeys, workspaceAdmin, hasher, epochs, catalog }, reported }
}

describe('workspaces and keys', () => {
  // Guarantee: the store never holds a key that could be used.
  it('issues a key that is stored as a digest only', async () => {
    const { deps } = setUp()
    const workspace = await createWorkspace(deps, { name: ' Shop ', ownerEmail: 'Owner@Example.com', actor: 'test' })
    expect(workspace).toMatchObject({ name: 'Shop', ownerEmail: 'owner@example.com', status: 'active' })
    const { record, apiKey } = await issueKey(deps, {
      workspaceId: workspace.id,
      mode: 'test',
      scopes: ['invoices:read', 'invoices:read'],
      actor: 'test',
    })
    expect(parseApiKey(apiKey)).toEqual({ mode: 'test' })
    const stored = await deps.apiKeys.findByHash(deps.hasher.hash(apiKey))
    expect(stored).toMatchObject({ id: record.id, scopes: ['invoices:read'], last4: apiKey.slice(-4) })
    expect(JSON.stringify(stored)).not.toContain(apiKey)
  })

  // Guarantee: success is reported only after every process has been told.
  it('revokes in the store first and then tells every process, again on a repeat', async () => {
    const { deps, reported } = setUp()
    const workspace = await createWorkspace(deps, { name: 'Shop', ownerEmail: 'owner@example.com', actor: 'test' })
    const request = { workspaceId: workspace.id, mode: 'live', scopes: ['rates:read'], actor: 'test' } as const
    const { record } = await issueKey(deps, request)
    const revoked = await revokeApiKey(deps, { keyId: record.id, action })
    expect(revoked.revokedAt).not.toBeNull()
    expect(revoked.epoch).toBeGreaterThan(record.epoch)
    const again = await revokeApiKey(deps, { keyId: record.id, action })
    expect(again).toEqual(revoked)
    expect(reported).toEqual([`key ${record.id} ${revoked.epoch}`, `key ${record.id} ${revoked.epoch}`])
  })

  it('changes only what is given', async () => {
    const { deps, reported } = setUp()
    const workspace = await createWorkspace(deps, { name: 'Shop', ownerEmail: 'owner@example.com', actor: 'test' })
    const change = { status: 'suspended', limits: { invoicesPerMonth: 3 }, policy: { spreadBps: 50 } } as const
    const updated = await updateWorkspace(deps, { workspaceId: workspace.id, change })
    expect(updated).toMatchObject({
      name: 'Shop',
      status: 'suspended',
      limits: { ...workspace.limits, invoicesPerMonth: 3 },
      policy: { ...workspace.policy, spreadBps: 50 },
    })
    expect(reported).toEqual([`workspace ${workspace.id} ${updated.epoch}`])
  })

  // Guarantee: an operator who suspends a workspace takes back nothing that its owner saves at the same moment, and the reverse.
  it('keeps what somebody else saved after it read the workspace', async () => {
    const { deps } = setUp()
    const { id } = await createWorkspace(deps, { name: 'Shop', ownerEmail: 'owner@example.com', actor: 'test' })
    let isFirst = true
    const findById = async (workspaceId: string) => {
      const read = await deps.workspaces.findById(workspaceId)
      if (isFirst) {
        isFirst = false
        const change = {
          policy: { requiresSecondFactor: true, confirmations: { btc_bitcoin: 6 } },
          limits: { paymentLinks: 1 },
        }
        await updateWorkspace(deps, { workspaceId, change })
      }
      return read
    }
    const workspaces = { ...deps.workspaces, findById }
    const change = { status: 'suspended', policy: { spreadBps: 50 }, limits: { webhookEndpoints: 2 } } as const
    expect(await updateWorkspace({ ...deps, workspaces }, { workspaceId: id, change })).toMatchObject({
      status: 'suspended',
      policy: { requiresSecondFactor: true, confirmations: { btc_bitcoin: 6 }, spreadBps: 50 },
      limits: { paymentLinks: 1, webhookEndpoints: 2 },
    })
  })

  it('merges confirmations by asset, and forgets one that is set to null', async () => {
    const { deps } = setUp()
    const { id } = await createWorkspace(deps, { name: 'Shop', ownerEmail: 'owner@example.com', actor: 'test' })
    const set = async (confirmations: Record<string, number | 'finalized' | null>) =>
      (await updateWorkspace(deps, { workspaceId: id, change: { policy: { confirmations } } })).policy.confirmations
    await set({ btc_bitcoin: 6, usdt_ethereum: 'finalized' })
    expect(await set({ btc_bitcoin: null, ltc_litecoin: 12 })).toEqual({ usdt_ethereum: 'finalized', ltc_litecoin: 12 })
  })

  // Guarantee: no policy makes every payment wait for ever, or pass at once.
  it.each([
    ['btc_bitcoin', 'finalized', 'Bitcoin has no final blocks'],
    ['doge_dogecoin', 'finalized', 'Dogecoin has no final blocks'],
    ['usdt_ethereum', 0, 'Must be a whole number from 1'],
    ['usdt_ethereum', -3, 'Must be a whole number from 1'],
    ['usdt_ethereum', 1.5, 'Must be a whole number from 1'],
    ['usdt_ethereum', 1e9, 'Must be a whole number from 1'],
    ['usdt_nowhere', 3, 'Asset not found'],
    ['usdt_ethereum', [], 'at least one tier'],
    ['usdt_ethereum', [{ fromUsd: 1, confirmations: 1 }], 'begin at 0 USD'],
    ['btc_bitcoin', [{ fromUsd: 0, confirmations: 'finalized' }], 'no final blocks'],
  ] as const)('refuses %s confirmations of %j and says why', async (asset, value, words) => {
    const { deps } = setUp()
    const { id } = await createWorkspace(deps, { name: 'Shop', ownerEmail: 'owner@example.com', actor: 'test' })
    const pending = updateWorkspace(deps, {
      workspaceId: id,
      change: { policy: { confirmations: { [asset]: value } } },
    })
    await expect(pending).rejects.toMatchObject({
      code: 'VALIDATION_ERROR',
      details: [{ path: `policy.confirmations.${asset}`, message: expect.stringContaining(words) }],
    })
    expect((await deps.workspaces.findById(id))?.policy.confirmations).toEqual({})
  })

  it('refuses what makes no sense', async () => {
    const { deps } = setUp()
    const bad = { code: 'VALIDATION_ERROR' }
    await expect(createWorkspace(deps, { name: ' ', ownerEmail: 'a@b.c', actor: 'test' })).rejects.toMatchObject(bad)
    await expect(createWorkspace(deps, { name: 'x', ownerEmail: 'nobody', actor: 'test' })).rejects.toMatchObject(bad)
    const { id } = await createWorkspace(deps, { name: 'x', ownerEmail: 'a@b.cd', actor: 'test' })
    await expect(issueKey(deps, { workspaceId: id, mode: 'test', scopes: [], actor: 'test' })).rejects.toMatchObject(
      bad,
    )
    const unknown = deps.random.uuid()
    const missing = { code: 'NOT_FOUND' }
    await expect(
      issueKey(deps, { workspaceId: unknown, mode: 'test', scopes: ['rates:read'], actor: 'test' }),
    ).rejects.toMatchObject(missing)
    await expect(revokeApiKey(deps, { keyId: unknown, action })).rejects.toMatchObject(missing)
    await expect(updateWorkspace(deps, { workspaceId: unknown, change: {} })).rejects.toMatchObject(missing)
    const limits = { invoicesPerMonth: -1 }
    await expect(updateWorkspace(deps, { workspaceId: id, change: { limits } })).rejects.toMatchObject(bad)
  })
})
